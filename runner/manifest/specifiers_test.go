package manifest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestSpecifiers(t *testing.T) {
	for spec, want := range map[string]bool{
		"": true, " ": true, ">=3.11": true, ">=3.11,<3.14": true, " >= 3.11 , < 4,": true, "==3.12.*": true, "!=3.12.*,>=3": true,
		"~=3.11": true, "~=3.11.2": true, "===3.12.4": true, ">=3.14.0rc1": true, ">=v3.9": true, "<3.14.0-alpha.1": true, ">3": true,
		"junk": false, "3.11": false, ">=": false, "~=3": false, ">=3.11.*": false, ">=3.11 <3.13": false, "=>3.11": false,
		">=3.11;": false, "^3.11": false, "==3.12rc1.*": false, "3.11+": false, ">=3.x": false, ">=3.11,x": false, "> =3.11": false,
		">=3.11.post1": true, ">=3.11+local": false,
	} {
		if p := checkSpecifiers(spec); (p == nil) != want {
			t.Errorf("%q: got %+v, want it to pass: %v", spec, p, want)
		}
	}
}

func TestShebang(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tool")
	for text, want := range map[string]string{
		"#!/usr/bin/env python3\nx":                "python3",
		"#! /opt/python3.11 -u\r\n":                "/opt/python3.11",
		"#!/usr/bin/env -S PYTHONUTF8=1 python -B": "python",
		"#!/opt/pypy3.10/bin/pypy3\n":              "/opt/pypy3.10/bin/pypy3",
		"#!/usr/bin/python3.13t\n":                 "/usr/bin/python3.13t",
		"#!/bin/sh\n# python3":                     "",
		"#!/usr/bin/env bash python3\n":            "",
		"#!/bin/sh python3\n":                      "",
		"#!/usr/bin/env\n":                         "",
		"#!/usr/bin/python-config\n":               "",
		"# python3\n":                              "",
		"#!":                                       "",
		"\x7fELF python3":                          "",
		"":                                         "",
	} {
		check(t, os.WriteFile(file, []byte(text), 0o755))
		if got := scriptPython(file); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if runtime.GOOS == "windows" {
			continue // this system has no executable mode
		}
		if p, err := Resolve(file, ""); err != nil || p.Kind != Executable || p.Shebang != want {
			t.Errorf("%q: got %+v, %v", text, p, err)
		}
	}
}
