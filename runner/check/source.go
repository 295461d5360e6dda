package check

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// sourceRequest is what the stage source looks at.
type sourceRequest struct {
	// Python is the interpreter's absolute path, empty when the plugin is no
	// Python program; Version is its version.
	Python  string
	Version interp.Version
	Modules *interp.Modules
	// Scripts are the files that Python runs, absolute: of a package its
	// __init__.py and __main__.py.
	Scripts []string
	// Env and Dir are those in which the plugin is going to run.
	Env []string
	Dir string
}

// sourceLimit bounds each of the two times that the interpreter is asked.
const sourceLimit = 30 * time.Second

// source tells what can be said of a plugin's own files without running them:
// whether they compile, whether what they import is there, and whether generated
// code and its libraries go together. All of it is told by the interpreter or
// from files; nothing of the plugin is executed.
func source(ctx context.Context, r sourceRequest) hook.Stage {
	if r.Python == "" {
		return hook.Stage{Verdict: hook.Skipped, Message: "it is no Python program"}
	}
	var stage hook.Stage
	l := look(ctx, r)
	stage.Findings = append(stage.Findings, l.syntax()...)
	stage.Findings = append(stage.Findings, l.imports()...)
	stage.Findings = append(stage.Findings, l.versions()...)
	if l.unchecked != nil {
		stage.Findings = append(stage.Findings, hook.Finding{ID: sourceUnchecked, Verdict: hook.Note,
			Message: fmt.Sprintf("the interpreter could not be asked: %v", l.unchecked)})
	}
	stage.Details = map[string]any{"files": l.compiled, "imports": len(l.wants)}
	stage.Message = l.summary()
	return settled(stage)
}

// sourceLook is what was read of a plugin, and what the interpreter says to it.
type sourceLook struct {
	sourceRequest
	*sourceTree
	asked    map[string]answer // by the words of the questions
	compiled int               // how many files were
	// unchecked is why the interpreter could not be asked, and doubted tells that
	// it could not be asked again for what seemed wrong.
	unchecked error
	doubted   bool
}

// look reads a plugin's files and asks the interpreter. What seems wrong to it
// without the packages that it runs at its start is asked for once more with
// them: they may bring encodings, and finders of modules.
func look(ctx context.Context, r sourceRequest) *sourceLook {
	l := &sourceLook{sourceRequest: r, sourceTree: readTree(r)}
	var questions []string
	for _, f := range l.order {
		if f.compiles() {
			questions = append(questions, compileWord+f.path)
			l.compiled++
		}
	}
	for _, w := range l.wants {
		questions = append(questions, w.question())
	}
	l.asked, l.unchecked = ask(ctx, r, questions, alone)
	if l.unchecked != nil {
		l.compiled = 0
		return l
	}
	var again []string
	for _, q := range questions {
		if _, wrong := l.asked[q]; wrong {
			again = append(again, q)
		}
	}
	if len(again) == 0 {
		return l
	}
	confirmed, err := ask(ctx, r, again, asUsual)
	if err != nil {
		l.unchecked, l.doubted = err, true
		return l
	}
	l.asked = confirmed
	return l
}

// syntax are the files that do not compile. One that is loaded only at times
// breaks the plugin only then.
func (l *sourceLook) syntax() []hook.Finding {
	var found []hook.Finding
	for _, f := range l.order {
		a, wrong := l.asked[compileWord+f.path]
		if !wrong {
			continue
		}
		raised := &hook.Raised{Type: a.Type, Message: a.Message}
		where := l.shown(f.path)
		if a.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, a.Line)
			raised.Frames = []hook.Frame{{File: f.path, Line: a.Line, Text: a.Text, Column: a.Column}}
		}
		one := hook.Finding{ID: syntaxError, Verdict: hook.Failure, Kind: hook.Start,
			Message: fmt.Sprintf("%s: %s", where, raised.Headline()), File: f.path, Line: a.Line,
			Err: &hook.Error{Kind: hook.Start, Python: raised}}
		if strings.HasPrefix(a.Message, "Missing parentheses in call to") {
			one.Fix = []string{"this is Python 2 code; Python 3.8 or later is needed"}
		}
		if !f.hard {
			one.Verdict = hook.Warning
			one.Message += ", in a file that is not always loaded"
		}
		found = append(found, one)
	}
	return found
}

// summary says in one line what was looked at, when nothing is wrong.
func (l *sourceLook) summary() string {
	if l.unchecked != nil && !l.doubted {
		return "looked at without the interpreter"
	}
	missing, compiled := 0, l.compiled
	for _, f := range l.order {
		if _, wrong := l.asked[compileWord+f.path]; wrong {
			compiled--
		}
	}
	for _, w := range l.wants {
		if _, wrong := l.asked[w.question()]; wrong {
			missing++
		}
	}
	compile := "s compile"
	if compiled == 1 {
		compile = " compiles"
	}
	found := plural(len(l.wants)-missing, "import")
	return fmt.Sprintf("%d file%s, %s found", compiled, compile, found)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// shown is a path as messages have it: relative to the first script's directory
// if it is in there.
func (r sourceRequest) shown(path string) string {
	if len(r.Scripts) > 0 {
		if rel, err := filepath.Rel(filepath.Dir(r.Scripts[0]), path); err == nil && rel != "." && filepath.IsLocal(rel) {
			return rel
		}
	}
	return path
}

// install is the command line that installs distributions for the interpreter: by
// its own pip, or by uv, which makes environments without one.
func (r sourceRequest) install(names ...string) string {
	words := []string{r.Python, "-m", "pip", "install"}
	if r.Modules != nil && !r.Modules.Has("pip") {
		words = []string{"uv", "pip", "install", "--python", r.Python}
	}
	return schema.QuoteLine(append(words, names...))
}
