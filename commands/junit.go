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
	file, err := openOutput(ctx, "--junit", name, 0, 0o666)
	return &junitFile{file}, err
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
