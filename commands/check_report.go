package commands

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/hook"
)

// openReport opens the file of a report before anything is checked, and leaves what
// is in it; nil without a name.
func openReport(name string) (*os.File, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, usage("--junit: %w", err)
	}
	return file, nil
}

// reports writes the JUnit file and the annotations of GitHub.
func (f *program) reports(o checkOptions, all []ui.CheckResult, junit *os.File) error {
	var err error
	if junit != nil {
		err = replace(junit, func(w io.Writer) error { return ui.WriteJUnit(w, all, o.strict) })
	}
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		f.streams.Annotate(all)
	}
	if err != nil {
		return hook.NewError(hook.Failed, err)
	}
	return nil
}

// replace writes a file anew, and closes it.
func replace(file *os.File, write func(io.Writer) error) error {
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		if err := file.Truncate(0); err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	return nil
}
