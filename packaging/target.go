package main

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
)

// target is a platform with its names in the package formats.
type target struct {
	os, arch string
	platform string // of the wheel: tags joined by dots
}

// The binary is static, so one Linux wheel fits glibc and musl. Go 1.26 needs macOS 12.
var targets = []target{
	{"linux", "amd64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_2_x86_64"},
	{"linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_2_aarch64"},
	{"darwin", "amd64", "macosx_12_0_x86_64"},
	{"darwin", "arm64", "macosx_12_0_arm64"},
	{"windows", "amd64", "win_amd64"},
	{"windows", "arm64", "win_arm64"},
}

func parseTarget(text string) (target, error) {
	for _, t := range targets {
		if t.os+"/"+t.arch == text {
			return t, nil
		}
	}
	return target{}, fmt.Errorf("no packages for %s, expected one of %v", text, targets)
}

func (t target) String() string { return t.os + "/" + t.arch }

// program returns the binary's file name.
func (t target) program() string {
	if t.os == "windows" {
		return "pyplug.exe"
	}
	return "pyplug"
}

// binary returns the path of the built binary.
func (t target) binary() string { return filepath.Join(work, t.os+"-"+t.arch, t.program()) }

// read returns the binary and what Go recorded in it.
func (t target) read() ([]byte, *buildinfo.BuildInfo, error) {
	content, err := os.ReadFile(t.binary())
	if err != nil {
		return nil, nil, err
	}
	info, err := t.check(content)
	return content, info, err
}

// check checks that a program runs on the target: built for it, and static on Linux.
func (t target) check(program []byte) (*buildinfo.BuildInfo, error) {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return nil, err
	}
	for _, want := range []debug.BuildSetting{{Key: "GOOS", Value: t.os}, {Key: "GOARCH", Value: t.arch}} {
		if !slices.Contains(info.Settings, want) {
			return nil, fmt.Errorf("the program is not built for %s", t)
		}
	}
	if t.os == "linux" {
		err = checkStatic(bytes.NewReader(program))
	}
	return info, err
}

// checkStatic checks that a Linux program needs no C library.
func checkStatic(program io.ReaderAt) error {
	e, err := elf.NewFile(program)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(e.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return errors.New("the program is linked dynamically: it runs with one C library only")
	}
	return nil
}
