package check

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/schema"
)

// The program that looks at the source, in two files.
var (
	//go:embed source.py
	sourcePython string
	//go:embed syntax.py
	syntaxPython string

	sourceProgram = strings.Join([]string{sourcePython, syntaxPython, pyworker.SearchPath, "main(sys.argv[1:7], sys.argv[7:])\n"}, "\n")
)

// sourceMark begins the line of source.py's answer.
const sourceMark = "\x1epyplug-source "

// sourceLimit bounds how long the interpreter may take.
const sourceLimit = 30 * time.Second

// sourceLook is the input of the stage source, and the answer of the plugin's Python.
type sourceLook struct {
	// Scripts are the absolute paths of the files that Python runs. For a package they
	// are its __init__.py and __main__.py. Place says how Python imports them.
	Scripts []string
	Place   pysrc.Place
	// Dirs are the directories whose files may declare what the plugin needs.
	Dirs []string
	// Env and Dir are the environment and the working directory of the plugin.
	Env []string
	Dir string

	sourceAnswer
	// listed are the distributions that the file source asks for, by which command makes the
	// plugin's environment; zero if no command does.
	listed  []string
	source  string
	command schema.Hint
	managed bool               // pip must not change its Python, because of PEP 668 or because other programs may use it
	python  interp.Interpreter // its path is empty if the plugin is no Python program
	opened  *runner.Opened
}

// sourceAnswer is what source.py says of a plugin.
type sourceAnswer struct {
	// Files is the number of files that compile, Imports that of their imports, and Found
	// that of the imports that were found.
	Files, Imports, Found int
	// Altered reports that the plugin changes where Python finds modules.
	Altered bool
	Syntax  []syntaxFault
	Missing []missing
	Clashes []clash
}

// syntaxFault is a file that does not compile, with the exception, and the line and
// column if Python reports them. Hard reports that the plugin cannot be loaded without
// the file.
type syntaxFault struct {
	File, Type, Message, Text string
	Line, Column              int
	Hard                      bool
}

// missing is a module that was not found. Module is its longest name in the import in
// File, relative to Dir if that is set. Missing is the part of that name that does not
// exist. Where is the file of the plugin's own package that it would be in. Hard reports
// that the plugin cannot be loaded without it.
type missing struct {
	Module, Missing, Where, Dir, File string
	Line                              int
	Hard                              bool
}

// clash describes generated files that the installed version of a library rejects. ID is
// that of the finding. File is one of them, More the number of others. They were
// generated for version Wants, version Has is installed, and the requirement Needs would
// fit.
type clash struct {
	ID, Library, File, Wants, Has, Why, Needs string

	More int
	Hard bool
}

// source looks at the plugin's source without running it.
func (c *check) source(ctx context.Context) hook.Stage {
	if err := c.s.MayRun(); err != nil {
		return withVerdict(hook.Stage{Message: "not checked by the interpreter", Findings: []hook.Finding{
			found(sourceUnchecked, hook.Note, fmt.Sprintf("without the stage launch, nothing runs that the plugin chooses: %v", err),
				"if you trust it, name the Python with --python, or do not skip launch")}})
	}
	began := time.Now()
	st := lookAtSource(ctx, lookOf(c.s.Opened))
	st.Took = time.Since(began)
	return c.confirm(ctx, st)
}

func lookOf(o *runner.Opened) sourceLook {
	scripts, python, dirs := o.Source()
	l := sourceLook{Scripts: scripts, Place: o.Place(), Dirs: o.Plugin().Project.Dirs, Env: o.Environ(), Dir: o.Config().Dir,
		managed: interp.FactsOf(python, o.Environ()).ExternallyManaged || python.Env == "" && !python.Source.Named(), python: python, opened: o}
	if l.Place.Root == "" && len(dirs) > 0 { // an installed module
		l.Place.Root = dirs[0]
	}
	return l
}

// lookAtSource reports what the plugin's own Python can find without running its files:
// whether they compile, whether their imports exist, and whether generated code fits its
// libraries.
func lookAtSource(ctx context.Context, l sourceLook) hook.Stage {
	switch {
	case l.python.Path == "":
		return hook.Stage{Verdict: hook.Skipped, NotApplicable: true, Message: "not a Python program"}
	case len(l.Scripts) == 0 && l.opened.Plugin().Module != "":
		return hook.Stage{Verdict: hook.Skipped, NotApplicable: true, Message: "a module that is not written in Python"}
	case len(l.Scripts) == 0:
		return hook.Stage{Verdict: hook.Skipped, NotApplicable: true, Message: "a zip application"}
	}
	var err error
	if l.sourceAnswer, err = askSource(ctx, l); err != nil {
		return withVerdict(hook.Stage{Message: "not checked by the interpreter", Findings: []hook.Finding{
			found(sourceUnchecked, hook.Note, fmt.Sprintf("cannot run the interpreter: %v", err))}})
	}
	stage := hook.Stage{Details: map[string]any{"files": l.Files + len(l.Syntax), "imports": l.Imports}}
	if len(l.Missing)+len(l.Clashes) > 0 {
		l.readSource()
	}
	stage.Findings = append(append(l.syntax(), l.imports()...), l.versions()...)
	compile := "s compile"
	if l.Files == 1 {
		compile = " compiles"
	}
	stage.Message = fmt.Sprintf("%d file%s, %s found", l.Files, compile, schema.Plural(l.Found, "import"))
	return withVerdict(stage)
}

// askSource runs source.py with the plugin's interpreter, in its environment and
// directory.
func askSource(ctx context.Context, r sourceLook) (sourceAnswer, error) {
	var a sourceAnswer
	out, err := proc.Run(ctx, proc.Tool{
		Path: r.python.Path, Args: slices.Concat([]string{"-B", "-c", sourceProgram}, r.Place.Words(), r.Scripts), Env: r.Env, Dir: r.Dir, Limit: sourceLimit,
	})
	if err != nil {
		return a, err
	}
	if out.Exit.Code != 0 {
		return a, fmt.Errorf("%s failed with %s%s", r.python.Path, hook.Exit(out.Exit), lastLine(out.Stderr))
	}
	_, answer, ok := bytes.Cut(out.Stdout, []byte(sourceMark))
	if line, _, whole := bytes.Cut(answer, []byte("\n")); ok && whole {
		return a, json.Unmarshal(line, &a)
	}
	return a, errors.New(r.python.Path + " exited before it answered")
}

// lastLine returns the last line of a program's error output, after a colon.
func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + last[:min(len(last), 300)]
	}
	return ""
}

// syntax returns the findings about files that do not compile. A file that is not always
// loaded gets only a warning.
func (l *sourceLook) syntax() []hook.Finding {
	var all []hook.Finding
	for _, s := range l.Syntax {
		raised := &hook.Raised{Type: s.Type, Message: s.Message}
		where := l.shown(s.File)
		if s.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, s.Line)
			raised.Frames = []hook.Frame{{File: schema.Path(s.File), Line: s.Line, Text: s.Text, Column: s.Column}}
		}
		f := hook.Finding{ID: syntaxError, Verdict: hook.Failure, Kind: hook.Start,
			Message: fmt.Sprintf("%s: %s", where, raised.Headline()), File: s.File, Line: s.Line,
			Err: &hook.Error{Kind: hook.Start, Python: raised}}
		if strings.HasPrefix(s.Message, "Missing parentheses in call to") {
			f.Fix = []string{"this is Python 2 code; Python 3.9 or later is needed"}
		}
		if !s.Hard {
			f.Verdict = hook.Warning
			f.Message += ", in a file that may not be loaded"
		}
		all = append(all, f)
	}
	return all
}

// versions returns the findings about generated files that an installed library rejects.
func (l *sourceLook) versions() []hook.Finding {
	var all []hook.Finding
	for _, c := range l.Clashes {
		generator := "protoc of the protobuf"
		if c.ID == grpcioTooOld {
			generator = "grpcio-tools of the grpcio"
		}
		what := l.shown(c.File) + " was"
		if c.More > 0 {
			what = fmt.Sprintf("%s and %s were", l.shown(c.File), schema.Plural(c.More, "other file"))
		}
		f := hook.Finding{ID: c.ID, Verdict: hook.Failure, Kind: hook.Start, File: c.File,
			Message: fmt.Sprintf("%s generated for %s %s, but %s is installed: %s", what, c.Library, c.Wants, c.Has, c.Why),
			Fix:     []string{"regenerate it with the " + generator + " that is installed"}}
		if install := l.install([]string{c.Needs}, nil); !install.IsZero() {
			f.Fix = append([]string{hook.Word(install)}, "or "+f.Fix[0])
		}
		if !c.Hard || l.Altered { // another library may be found when it runs
			f.Verdict = hook.Warning
		}
		all = append(all, f)
	}
	return all
}

// shown is a path for messages: relative to the first script's directory if it is in there.
func (l *sourceLook) shown(path string) string {
	if len(l.Scripts) > 0 {
		if rel, err := filepath.Rel(filepath.Dir(l.Scripts[0]), path); err == nil && rel != "." && filepath.IsLocal(rel) {
			return rel
		}
	}
	return path
}
