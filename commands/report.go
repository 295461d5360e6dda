package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner/hook"
)

// report is the report of check or test. It prints results when they arrive, and at the end all of
// them for CI systems.
type report struct {
	*program
	printer   reportPrinter
	junit     string   // the value of --junit
	file      *os.File // the file of --junit, or nil if there is none or it is standard output
	stop      func()   // ends the work, because nobody can read its results
	unprinted error    // why a part of the report was not printed
}

// reportPrinter prints the parts of a report that CI systems read.
type reportPrinter interface {
	Annotate()
	WriteJUnit(w io.Writer) error
}

// openReport opens the file of --junit. "-" is standard output, and "" means no file.
func (prog *program) openReport(ctx context.Context, junit string, printer reportPrinter) (r report, err error) {
	r = report{program: prog, printer: printer, junit: junit}
	switch {
	case junit == "-" && prog.opts.json:
		return r, cmdline.Usage("--junit - and --json cannot be combined: both print to standard output")
	case junit == "" || junit == "-":
		return r, nil
	}
	if info, err := os.Stat(junit); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		// If the user forgot the FILE of --junit, this is the plugin or a file of cases.
		if text, err := os.ReadFile(junit); err == nil && !bytes.HasPrefix(text, []byte("<")) {
			return r, cmdline.Usage("--junit: %s is not an XML file, expected one or a new file", junit)
		}
	}
	r.file, err = openOutput(ctx, "--junit", junit)
	return r, err
}

// print prints a part of the report. do may be nil. After an error it prints nothing more and ends
// the work. If only the reader has gone away, the work continues, because the exit code still
// counts.
func (r *report) print(do func() error) {
	if do == nil || r.unprinted != nil {
		return
	}
	if r.unprinted = r.write(r.signals.kill, do); r.isCut() {
		r.stop()
	}
}

// isCut reports whether a part of the report was not printed although somebody reads it.
func (r *report) isCut() bool { return r.unprinted != nil && !errors.Is(r.unprinted, errQuiet) }

// end ends the report: with annotations if GitHub Actions reads standard error, and with JUnit XML.
// It returns the error of the command. err is the error of the work.
func (r *report) end(err error) error {
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		r.printer.Annotate()
	}
	if r.isCut() {
		err = r.unprinted
	}
	return r.firstOf(err, r.writeJUnit())
}

// writeJUnit writes JUnit XML. It replaces the content of the file. It does nothing without
// --junit.
func (r *report) writeJUnit() error {
	if r.junit == "" {
		return nil
	}
	var text bytes.Buffer
	err := r.printer.WriteJUnit(&text)
	if r.file == nil && err == nil {
		return r.write(r.signals.kill, func() error { return r.streams.Print(text.String()) })
	}
	if info, statErr := r.file.Stat(); statErr == nil && info.Mode().IsRegular() {
		err = errors.Join(err, r.file.Truncate(0))
	}
	if err == nil {
		_, err = r.file.Write(text.Bytes())
	}
	if err = errors.Join(err, r.file.Close()); err != nil {
		return hook.NewError(hook.Failed, fmt.Errorf("--junit: %w", err))
	}
	return nil
}
