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
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// The Python program that inspects the source, in two files.
var (
	//go:embed source.py
	sourcePython string
	//go:embed syntax.py
	syntaxPython string

	sourceProgram = sourcePython + "\n" + syntaxPython + "\nmain(sys.argv[1], sys.argv[2:])\n"
)

// sourceMark begins the line with the answer of source.py.
const sourceMark = "\x1epyplug-source "

// sourceLimit is the timeout of source.py.
const sourceLimit = 30 * time.Second

// lookup is the source of a plugin, and what its Python reports about it.
type lookup struct {
	// Python is the interpreter's absolute path, or "" if the plugin is no Python
	// program. Version is its version.
	Python  string
	Version interp.Version
	// Scripts are the absolute paths of the files that Python runs. A package has
	// __init__.py and __main__.py. Root is the directory of the plugin's own modules.
	Scripts []string
	Root    string
	// lacksSource is why there is no source to inspect, or "".
	lacksSource string
	// Env and Dir are the environment and the working directory of the plugin.
	Env []string
	Dir string

	sourceAnswer
	python interp.Interpreter
	// source is the file that lists what the plugin needs, kind its kind, and listed
	// the distributions in it. They are empty if there is no such file. line is the
	// command that installs them. It is "" if the user maintains the environment.
	kind, source, line string
	listed             []string
}

// sourceAnswer is the answer of source.py.
type sourceAnswer struct {
	// Files is the number of files that compile, Imports the number of their imports,
	// Found the number of imports that were found.
	Files, Imports, Found int
	// Altered reports that the plugin changes where Python finds modules.
	Altered bool
	Syntax  []syntaxFault
	Missing []missing
	Clashes []clash
}

// syntaxFault is a file that does not compile, with the exception and its place. Line and
// Column are 0 if Python does not report them. Hard means that the plugin needs the file.
type syntaxFault struct {
	File, Type, Message, Text string
	Line, Column              int
	Hard                      bool
}

// missing is a module that was not found. Module is its longest name in the import, relative
// to Dir if that is set. Missing is the part of the name that does not exist. Where is the
// file of the plugin's own package that should have it. File and Line are the place of the
// import. Hard means that the plugin cannot be loaded without the module.
type missing struct {
	Module, Missing, Where, Dir, File string
	Line                              int
	Hard                              bool
}

// clash is a generated file that the installed version of a library rejects. More is the
// number of further files like it. ID is that of the finding. Wants is the version that the
// file was generated for, Has the installed one, Needs the requirement that would fit.
type clash struct {
	ID, Library, File, Wants, Has, Why, Needs string

	More int
	Hard bool
}

// source inspects the plugin's source without running it.
func (c *check) source(ctx context.Context) hook.Stage {
	if err := c.s.MayRun(); err != nil {
		return withVerdict(hook.Stage{Message: "not checked by the interpreter", Findings: []hook.Finding{
			found(sourceUnchecked, hook.Note, fmt.Sprintf("without the stage launch, nothing runs that the plugin chooses: %v", err),
				"if you trust it, name the Python with --python, or do not skip launch")}})
	}
	return inspect(ctx, newLookup(c.s.Opened))
}

func newLookup(o *runner.Opened) lookup {
	scripts, python, dirs := o.Source()
	l := lookup{Python: python.Path, Version: python.Version, Scripts: scripts, Env: o.Environ(), Dir: o.Settings().Dir, python: python}
	if len(dirs) > 0 {
		l.Root = dirs[0]
	}
	switch {
	case python.Path == "":
		l.lacksSource = "not a Python program"
	case len(scripts) == 0 && o.Plugin().Module != "":
		l.lacksSource = "a module that is not written in Python"
	case len(scripts) == 0:
		l.lacksSource = "a zip application"
	}
	l.readWays(o)
	return l
}

// inspect checks a plugin's own files without running them: whether they compile, whether
// their imports exist, and whether generated code fits its libraries. The plugin's own
// Python does the work.
func inspect(ctx context.Context, l lookup) hook.Stage {
	if why := l.lacksSource; why != "" {
		return hook.Stage{Verdict: hook.Skipped, NotApplicable: true, Message: why}
	}
	var err error
	if l.sourceAnswer, err = askPython(ctx, l); err != nil {
		return withVerdict(hook.Stage{Message: "not checked by the interpreter", Findings: []hook.Finding{
			found(sourceUnchecked, hook.Note, fmt.Sprintf("cannot run the interpreter: %v", err))}})
	}
	stage := hook.Stage{Details: map[string]any{"files": l.Files + len(l.Syntax), "imports": l.Imports}}
	if len(l.Missing)+len(l.Clashes) > 0 {
		l.listed = declaredBy(l.source)
	}
	stage.Findings = append(append(l.syntax(), l.imports()...), l.versions()...)
	compile := "s compile"
	if l.Files == 1 {
		compile = " compiles"
	}
	stage.Message = fmt.Sprintf("%d file%s, %s found", l.Files, compile, schema.Plural(l.Found, "import"))
	return withVerdict(stage)
}

// askPython runs source.py in the environment of the plugin.
func askPython(ctx context.Context, r lookup) (sourceAnswer, error) {
	var a sourceAnswer
	out, err := proc.Run(ctx, proc.Tool{
		Path: r.Python, Args: append([]string{"-B", "-c", sourceProgram, r.Root}, r.Scripts...), Env: r.Env, Dir: r.Dir, Limit: sourceLimit,
	})
	if err != nil {
		return a, err
	}
	if out.Exit.Code != 0 {
		return a, fmt.Errorf("%s failed with %s%s", r.Python, hook.Exit(out.Exit), lastLine(out.Stderr))
	}
	_, answer, ok := bytes.Cut(out.Stdout, []byte(sourceMark))
	if line, _, whole := bytes.Cut(answer, []byte("\n")); ok && whole {
		return a, json.Unmarshal(line, &a)
	}
	return a, errors.New(r.Python + " exited before it answered")
}

// lastLine returns a colon and the last line of a text, or "".
func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + last[:min(len(last), 300)]
	}
	return ""
}

// syntax returns a finding for each file that does not compile. It is a warning if the
// plugin may run without loading the file.
func (l *lookup) syntax() []hook.Finding {
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
			f.Fix = []string{"this is Python 2 code; Python 3.8 or later is needed"}
		}
		if !s.Hard {
			f.Verdict = hook.Warning
			f.Message += ", in a file that may not be loaded"
		}
		all = append(all, f)
	}
	return all
}

// versions returns a finding for the generated files that an installed library rejects.
func (l *lookup) versions() []hook.Finding {
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
		if how := l.install(c.Needs); how != "" {
			f.Fix = []string{how, "or " + f.Fix[0]}
		}
		if !c.Hard || l.Altered { // another library may be found when it runs
			f.Verdict = hook.Warning
		}
		all = append(all, f)
	}
	return all
}

// shown returns a path for messages: relative to the directory of the first script if possible.
func (l *lookup) shown(path string) string {
	if len(l.Scripts) > 0 {
		if rel, err := filepath.Rel(filepath.Dir(l.Scripts[0]), path); err == nil && rel != "." && filepath.IsLocal(rel) {
			return rel
		}
	}
	return path
}

// A program may create modules in ways that its source does not show. So the check holds the
// stage source back until the plugin was started. A start that fails because of an import
// confirms the findings about imports. Otherwise they become notes.

// unconfirmed are the findings that need a start to confirm them.
var unconfirmed = []string{importMissing, protobufTooOld, protobufTooNew, grpcioTooOld}

// needsConfirmation reports whether a stage has such findings. With a syntax error the plugin
// cannot start, so nothing needs confirmation.
func needsConfirmation(st hook.Stage) bool {
	some := false
	for _, f := range st.Findings {
		if f.ID == syntaxError && f.Verdict == hook.Failure {
			return false
		}
		some = some || f.Verdict >= hook.Warning && slices.Contains(unconfirmed, f.ID)
	}
	return some
}

// confirm adds the held stage to the report after the stage launch. It returns that stage as
// the report shows it.
func (c *check) confirm(launch hook.Stage) hook.Stage {
	source := *c.held
	c.held = nil
	if c.ended == nil && launch.Verdict == hook.Failure && c.failedByImport() && source.Verdict == hook.Failure {
		c.done(source)
		c.lacking[stageLaunch] = c.lacking[stageSource]
		return hook.Stage{Name: launch.Name, Verdict: hook.Skipped, Message: c.lacking[stageSource]}
	}
	if c.ended == nil {
		source.Findings = slices.Clone(source.Findings)
		for i := range source.Findings {
			f := &source.Findings[i]
			if !slices.Contains(unconfirmed, f.ID) {
				continue
			}
			if f.Verdict = hook.Note; f.ID == importMissing {
				f.ID = importUnsure
			}
			f.Message += "; the plugin started without it"
		}
		source.Verdict, source.Message = hook.OK, "it compiles; some of its imports were not found"
		source = withVerdict(source)
	}
	c.done(source)
	return launch
}

// failedByImport reports whether an import made the start fail.
func (c *check) failedByImport() bool {
	missing := (*schema.MissingModuleError)(nil)
	if c.fault == nil || c.faultAt != stageLaunch {
		return false
	}
	return errors.As(c.fault, &missing) || c.fault.Python != nil
}
