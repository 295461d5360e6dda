package commands

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/hook"
)

// reports writes the annotations of GitHub and the JUnit file, if there is one.
func (f *program) reports(o checkOptions, all []ui.CheckResult, junit *os.File) error {
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		f.streams.Annotate(all)
	}
	if junit == nil {
		return nil
	}
	var text bytes.Buffer
	err := ui.WriteJUnit(&text, all, o.strict)
	if info, statErr := junit.Stat(); statErr == nil && info.Mode().IsRegular() {
		err = errors.Join(err, junit.Truncate(0))
	}
	if err == nil {
		_, err = junit.Write(text.Bytes())
	}
	if err = errors.Join(err, junit.Close()); err != nil {
		return hook.NewError(hook.Failed, fmt.Errorf("--junit: %w", err))
	}
	return nil
}
