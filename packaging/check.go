package main

import (
	"archive/zip"
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// checkWheel returns an error if an installer would reject a wheel, or would install a program
// that cannot run where the wheel's tags say.
func checkWheel(name string, content []byte) error {
	fail := func(format string, args ...any) error { return fmt.Errorf("%s: %w", name, fmt.Errorf(format, args...)) }
	parts := strings.Split(strings.TrimSuffix(name, ".whl"), "-")
	if len(parts) != 5 || parts[0] != wheelName || parts[2] != "py3" || parts[3] != "none" {
		return fail("expected the name %s-VERSION-py3-none-PLATFORM.whl", wheelName)
	}
	i := slices.IndexFunc(targets, func(t target) bool { return t.platform == parts[4] })
	if i < 0 {
		return fail("unknown platform %s", parts[4])
	}
	t, base := targets[i], wheelName+"-"+parts[1]
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return fail("%w", err)
	}
	files := map[string]file{}
	for _, f := range z.File {
		text, err := readAll(f)
		if err != nil {
			return fail("%s: %w", f.Name, err)
		}
		files[f.Name] = file{f.Name, f.Mode().Perm(), text}
	}
	if got := string(files[base+".dist-info/WHEEL"].content); got != string(wheelMetadata(t)) {
		return fail("WHEEL is %q, expected %q", got, wheelMetadata(t))
	}
	if got, want := string(files[base+".dist-info/METADATA"].content), "\nVersion: "+parts[1]+"\n"; !strings.Contains(got, want) {
		return fail("METADATA has no line %q", strings.TrimSpace(want))
	}
	if err := checkRecord(files, base+".dist-info/RECORD"); err != nil {
		return fail("%w", err)
	}
	if err := checkProgram(files[base+".data/scripts/"+t.program()], t); err != nil {
		return fail("%w", err)
	}
	return nil
}

func readAll(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r) // our own file, of a few megabytes
}

// checkRecord checks that RECORD names every file with its hash.
func checkRecord(files map[string]file, record string) error {
	listed := map[string]string{}
	for line := range strings.Lines(string(files[record].content)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), ",")
		listed[name] = rest
	}
	for name, f := range files {
		if want := fmt.Sprintf("%s,%d", digest(f.content), len(f.content)); name != record && listed[name] != want {
			return fmt.Errorf("RECORD says %q of %s, expected %q", listed[name], name, want)
		}
		delete(listed, name)
	}
	for name := range listed {
		return fmt.Errorf("RECORD names %s, which is missing", name)
	}
	return nil
}

// checkProgram checks that a binary runs on a target: executable, built for it, and static on Linux.
func checkProgram(f file, t target) error {
	if f.content == nil {
		return errors.New("no program " + t.program())
	}
	if f.mode != 0o755 {
		return fmt.Errorf("%s has mode %o, expected 755", path.Base(f.name), f.mode)
	}
	info, err := buildinfo.Read(bytes.NewReader(f.content))
	if err != nil {
		return err
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if got := settings["GOOS"] + "/" + settings["GOARCH"]; got != t.String() {
		return fmt.Errorf("the program is built for %s, expected %s", got, t)
	}
	if t.os != "linux" {
		return nil
	}
	return checkStatic(bytes.NewReader(f.content))
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
