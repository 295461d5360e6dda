package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pyplug/pyplug/runner/hook"
)

// junitFile is where --junit writes: a file, or with a nil file standard output.
type junitFile struct{ file *os.File }

// openJUnit opens the file of --junit; "-" is standard output, and "" no file, for which it returns
// nil.
func (f *program) openJUnit(ctx context.Context, name string) (*junitFile, error) {
	switch {
	case name == "-" && f.opts.json:
		return nil, usage("--junit - and --json both print on standard output")
	case name == "":
		return nil, nil
	case name == "-":
		return &junitFile{}, nil
	}
	if isOther(name) {
		return nil, usage("--junit: %s is no XML file, want one or a new file", name)
	}
	file, err := openOutput(ctx, "--junit", name, 0, 0o666)
	return &junitFile{file}, err
}

// isOther reports whether a file has something other than XML, such as the plugin or the cases if
// the word behind --junit was forgotten.
func isOther(name string) bool {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	first := make([]byte, 1)
	n, _ := file.Read(first)
	return n > 0 && first[0] != '<'
}

// write writes the report, in place of what the file had. It does nothing without --junit.
func (j *junitFile) write(f *program, report func(io.Writer) error) error {
	if j == nil {
		return nil
	}
	var text bytes.Buffer
	err := report(&text)
	if j.file == nil && err == nil {
		return f.write(f.signals.kill, func() error { return f.streams.Print(text.String()) })
	}
	if info, statErr := j.file.Stat(); statErr == nil && info.Mode().IsRegular() {
		err = errors.Join(err, j.file.Truncate(0))
	}
	if err == nil {
		_, err = j.file.Write(text.Bytes())
	}
	if err = errors.Join(err, j.file.Close()); err != nil {
		return hook.NewError(hook.Failed, fmt.Errorf("--junit: %w", err))
	}
	return nil
}

// onGitHub reports whether GitHub Actions reads standard error for annotations.
func onGitHub() bool { return os.Getenv("GITHUB_ACTIONS") == "true" }
