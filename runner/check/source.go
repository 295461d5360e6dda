package check

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// sourceProgram is the Python program that compiles files.
//
//go:embed source.py
var sourceProgram string

// sourceLimit is the timeout of the interpreter.
const sourceLimit = 30 * time.Second

// maxSources is the number of files that one process compiles. Their paths must fit in a command
// line.
const maxSources = 200

// ownFiles limits the files that are compiled. It excludes generated code, which nobody edits.
var ownFiles = pysrc.Limits{Files: pysrc.Whole.Files, Bytes: pysrc.Whole.Bytes, Imports: pysrc.Whole.Imports}

// source compiles the plugin's own files with its Python, without running them. It does not find
// out which of them a start loads and what they import, because only Python can decide that.
func (c *check) source(ctx context.Context) hook.Stage {
	o := c.s.Keeper
	if err := o.MayRun(); err != nil {
		return failed(found(sourceUnchecked, hook.Note, fmt.Sprintf("the source was not compiled, because without the stage launch pyplug runs no Python that the plugin chooses: %v", err),
			"name the Python with --python if you trust it, or do not skip launch"))
	}
	scripts, python, dirs := o.Source()
	switch {
	case python.Path == "":
		return hook.Stage{Verdict: hook.Skipped, NotApplicable: true, Message: "not a Python program"}
	case len(scripts) == 0 && o.Plugin.Module != "":
		return hook.Stage{Verdict: hook.Skipped, NotApplicable: true, Message: "a module that is not written in Python"}
	case len(scripts) == 0:
		return hook.Stage{Verdict: hook.Skipped, NotApplicable: true, Message: "a zip application"}
	}
	files := slices.Clone(scripts)
	for _, script := range scripts {
		own, _ := pysrc.Own(script, dirs, ownFiles)
		for _, file := range own {
			if !slices.Contains(files, file.Path) {
				files = append(files, file.Path)
			}
		}
	}
	st := hook.Stage{Details: map[string]any{"files": len(files)}}
	for part := range slices.Chunk(files, maxSources) {
		faults, err := compile(ctx, o, part)
		if err != nil {
			return failed(found(sourceUnchecked, hook.Note, fmt.Sprintf("cannot run the interpreter: %v", err)))
		}
		for _, f := range faults {
			st.Findings = append(st.Findings, f.finding(scripts))
		}
	}
	st.Message = schema.Plural(len(files)-len(st.Findings), "file") + " compile"
	if len(files)-len(st.Findings) == 1 {
		st.Message += "s"
	}
	return st
}

// syntaxFault describes a file that does not compile: the exception, and the line and column if
// Python reports them.
type syntaxFault struct {
	file, kind, message, text string
	line, column              int
}

// compile runs source.py with the plugin's interpreter, in its environment and directory.
func compile(ctx context.Context, o *runner.Keeper, files []string) (faults []syntaxFault, err error) {
	_, python, _ := o.Source()
	out, err := proc.Run(ctx, proc.Tool{
		Path: python.Path, Args: append([]string{"-B", "-c", sourceProgram}, files...), Env: o.Environ, Dir: o.Dir, Limit: sourceLimit,
	})
	answer, ok := plan.Marked(out.Stdout)
	switch {
	case err != nil:
		return nil, err
	case out.Exit.Code != 0:
		return nil, fmt.Errorf("%s failed with %s%s", python.Path, hook.Exit(out.Exit), lastLine(out.Stderr))
	case !ok:
		return nil, errors.New(python.Path + " exited before it answered")
	}
	const parts = 6
	for w := range slices.Chunk(strings.Split(string(answer), "\x00"), parts) {
		if len(w) < parts { // all files compile
			break
		}
		number, _ := strconv.Atoi(w[0]) // source.py writes numbers
		line, _ := strconv.Atoi(w[3])
		column, _ := strconv.Atoi(w[4])
		faults = append(faults, syntaxFault{file: files[number], kind: w[1], message: w[2], line: line, column: column, text: w[5]})
	}
	return faults, nil
}

// lastLine returns the last line of a program's error output, after a colon.
func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + last[:min(len(last), 300)]
	}
	return ""
}

// finding returns the finding about the file. It is a failure if the file is one of the scripts,
// and otherwise a warning, because Python might not load the file.
func (s syntaxFault) finding(scripts []string) hook.Finding {
	raised := &hook.Raised{Type: s.kind, Message: s.message}
	where := schema.Relative(s.file, filepath.Dir(scripts[0]))
	if s.line > 0 {
		where = fmt.Sprintf("%s:%d", where, s.line)
		raised.Frames = []hook.Frame{{File: schema.Path(s.file), Line: s.line, Text: s.text, Column: s.column}}
	}
	f := hook.Finding{ID: syntaxError, Verdict: hook.Failure, Kind: hook.Start,
		Message: fmt.Sprintf("%s: %s", where, raised.Headline()), File: s.file, Line: s.line,
		Err: &hook.Error{Kind: hook.Start, Python: raised}}
	if strings.HasPrefix(s.message, "Missing parentheses in call to") {
		f.Fix = []string{"port it to Python 3.9 or later: this is Python 2 code"}
	}
	if !slices.Contains(scripts, s.file) {
		f.Verdict = hook.Warning
		f.Message += ", in a file that may not be loaded"
	}
	return f
}
