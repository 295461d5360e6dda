package main

import (
	"fmt"
	"path/filepath"
)

// target is a platform with its names in the package formats.
type target struct {
	os, arch string
	platform string // the wheel's platform tags, joined by dots
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
