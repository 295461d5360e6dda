package pyworker

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

var (
	errEnded   = errors.New("the plugin has exited")
	errUnbegun = errors.New("not started: earlier calls took too long")
	errStopped = errors.New("the plugin was stopped during the call")
)

// answer is the body of an error frame.
type answer struct {
	Reason  string        `json:"reason"`
	Message string        `json:"message"`
	Python  *hook.Raised  `json:"python"`
	Place   string        `json:"place"`
	Hooks   []string      `json:"hooks"`
	Why     string        `json:"why"`
	Program bool          `json:"program"` // the name belongs to a command line program
	Missing string        `json:"missing"`
	Files   []schema.Path `json:"files"`

	Unfound []schema.Unfound `json:"unfound"` // the modules that a failed start lacks

	// If arguments do not fit:
	Signature *schema.Hook `json:"signature"` // the hook's signature, without its name
	Ends      bool         `json:"ends"`      // the signature is appended to the message
	Unknown   string       `json:"unknown"`   // a name that no parameter has
	Dashed    bool         `json:"dashed"`    // the name was typed as --name
	Word      int          `json:"word"`      // the number, from 1, of the word with that name or of an unnamed word that does not fit, or 0 if there is none
	Typed     string       `json:"typed"`     // the word with that name, if it may have been meant as text
	AsJSON    string       `json:"as_json"`   // a word that passes the parameter as JSON
	Instead   []string     `json:"instead"`   // the words that were probably meant
	Near      string       `json:"near"`      // a text that is not one of the choices
	Choices   []string     `json:"choices"`
	Other     string       `json:"other"` // a parameter that can only be passed by name
	Whole     []string     `json:"whole"` // a parameter that accepts all arguments as its value, and the word and the JSON that pass them; or a parameter that accepts them as an item, and the JSON
}

// argumentError returns the error for arguments that do not fit the hook.
func (a answer) argumentError(hookName string) *hook.Error {
	e := &schema.ArgumentError{Place: a.Place, Problem: a.Message, Unknown: a.Unknown, Word: a.Word}
	meant := schema.Suggest(cmp.Or(a.Unknown, a.Near), a.Choices)
	if a.Dashed {
		meant = schema.OptionOf(meant)
	}
	e.Hints = schema.DidYouMean(meant)
	if len(a.Instead) > 0 && meant == "" {
		e.Hints = schema.Hints("write %s", schema.QuoteLine(a.Instead))
	}
	if a.Typed != "" {
		e.Hints = append(e.Hints, schema.Hintf("write %s to pass it as text", schema.QuoteLine([]string{"=" + a.Typed})))
	}
	if a.AsJSON != "" {
		e.Hints = append(e.Hints, schema.Hintf("write it as JSON: %s", schema.QuoteLine([]string{a.AsJSON})))
	}
	switch {
	case meant != "":
	case len(a.Whole) == 3:
		e.Hints = append(e.Hints, schema.Hintf("pass all of it as %s: %s value (lines), %s (standard input), %s (JSON)",
			a.Whole[0], schema.CallSetting("items"), a.Whole[1], a.Whole[2]))
	case len(a.Whole) == 2:
		e.Hints = append(e.Hints, schema.Hintf("pass it as an item of the list %s: %s", a.Whole[0], a.Whole[1]))
	}
	if a.Other != "" {
		e.Hints = append(e.Hints, schema.Hintf("pass %s by name: %s VALUE", a.Other, schema.OptionOf(a.Other)))
	}
	if a.Signature != nil {
		a.Signature.Name = hookName
		if a.Ends {
			e.Problem += " " + a.Signature.ShortSignature()
		} else {
			e.Hints = append(e.Hints, schema.Hintf("match the signature %s", a.Signature.ShortSignature()))
		}
	}
	return requestError(hookName, e)
}

// readAnswer decodes an error frame and adds the source lines to its exception.
func readAnswer(f frame) (answer, error) {
	var a answer
	if err := json.Unmarshal(f.body, &a); err != nil {
		return a, fmt.Errorf("the worker's error: %w", err)
	}
	addSource(a.Python, make(map[string][]string))
	return a, nil
}

// place returns where a canceled call was, according to an error frame or a trace frame. It
// returns nil for the zero frame.
func (f frame) place() []hook.Frame {
	a, err := readAnswer(f)
	if err != nil || a.Python == nil {
		return nil
	}
	return a.Python.Frames
}

// answerError returns the error of an error frame, or nil for any other answer.
func (inst *instance) answerError(hookName string, f frame) *hook.Error {
	if f.kind != frameError {
		return nil
	}
	a, err := readAnswer(f)
	if err != nil {
		return &hook.Error{Kind: hook.Internal, Hook: hookName, Begun: true, Err: err}
	}
	e := &hook.Error{Kind: hook.Failed, Hook: hookName, Begun: true}
	switch a.Reason {
	case "raised":
		e.Python = a.Python
		e.Hints = a.Python.Hints(inst.launcher.cfg.Dir)
		inst.launcher.setCause(e, a)
	case "result":
		e.Place, e.Err = a.Place, fmt.Errorf("the result cannot be represented: %s: %s", a.Place, a.Message)
		if strings.Contains(a.Message, "NaN") || strings.Contains(a.Message, "Infinity") {
			e.Hints = schema.Hints("pass %s null or %[1]s literal to allow such numbers", schema.Setting("nan"))
		}
	case "arguments":
		e = a.argumentError(hookName)
	case "hook":
		e = requestError(hookName, &schema.NoHookError{Hook: hookName, Known: a.Hooks, Why: a.Why})
		switch {
		case a.Program:
			e.Hints = schema.Hints("run it with `%s …`", schema.QuoteLine([]string{"python", inst.launcher.cfg.Plugin}))
		case len(a.Hooks) == 0:
			e.Hints = schema.Hints("define a public function in the file")
		}
	case "canceled": // by something else than the caller, which would not read this answer
		e.Err = errors.New("interrupted by a signal that pyplug did not send")
		if inst.stopping.Load() {
			e.Kind, e.Err = hook.Canceled, errStopped
		}
		if a.Python != nil {
			e.At = a.Python.Frames
		}
	default:
		e.Kind, e.Err = hook.Internal, fmt.Errorf("the worker's error has the unknown reason %q", a.Reason)
	}
	return e
}

// lostError returns the error of a call that was not answered because the process or its main
// thread has ended.
func (inst *instance) lostError(hookName string, begun bool) *hook.Error {
	e := &hook.Error{Kind: hook.Crash, Hook: hookName, Begun: begun}
	lives := inst.mainEnded && !hook.Within(inst.lost, exitLimit)
	if !lives {
		<-inst.lost
		exit := inst.Exit()
		e.Exit, e.At = &exit, stackFrames(exit.Stderr)
	}
	switch {
	case !begun:
		e.Kind, e.Err = hook.Unavailable, errEnded
	case lives:
		e.Err = errors.New("the plugin's main thread ended during the call; its process has not exited yet")
	case inst.fault != nil:
		e.Err = fmt.Errorf("the worker's pipe: %w", inst.fault)
	case inst.isTerminating():
		e.Err = errors.New("the worker was killed because another call did not end")
	case e.Exit.Stopped:
		e.Kind, e.Err = hook.Canceled, errStopped
	default:
		e.Err = errors.New("the plugin exited during the call")
	}
	return e
}

// loadError returns the error of a plugin that could not be loaded, from the worker's answer.
func (inst *instance) loadError(f frame, exit hook.Exit) *hook.Error {
	a, err := readAnswer(f)
	if err != nil {
		return pipeError(err, exit)
	}
	if a.Reason == "old" {
		return &hook.Error{Kind: hook.Interpreter, Permanent: true,
			Err: fmt.Errorf("%s at %s is too old, expected 3.9 or later", a.Message, inst.launcher.cfg.Python)}
	}
	inst.launcher.addFiles(a.Files)
	e := &hook.Error{Kind: hook.Start, Python: a.Python, Permanent: a.Python.Permanent()}
	switch {
	case e.Python == nil:
	case strings.Contains(e.Python.Message, "Missing parentheses in call to"):
		e.Hints = schema.Hints("port it to Python 3.9 or later: this is Python 2 code")
	case e.Python.Type == "SystemExit":
		e.Hints = schema.Hints(exitHint(e.Python))
	case strings.HasPrefix(e.Python.Message, "attempted relative import with no known parent"):
		e.Hints = schema.Hints("write `import helper` for a helper.py next to the plugin, not `from . import helper`: the file is in no package")
	default:
		e.Hints = e.Python.Hints(inst.launcher.cfg.Dir)
	}
	inst.launcher.setCause(e, a)
	return e
}

// setCause sets the error and the hints of an import that failed. For any other exception, the
// exception itself says what is wrong.
func (l *Launcher) setCause(e *hook.Error, a answer) {
	switch {
	case a.Python == nil:
		e.Err = fmt.Errorf("the worker's error has the reason %q and no exception", a.Reason)
	case a.Missing != "":
		missing := &schema.MissingModuleError{Module: a.Missing, Text: a.Python.Headline(), Unfound: a.Unfound}
		if frames := a.Python.Frames; len(frames) > 0 {
			missing.File = frames[len(frames)-1].File
		}
		e.Err, e.Hints = missing, append(e.Hints, l.cfg.Missing(missing)...)
	}
}

// exitHint returns the hint for a file that exits when it is imported, as a script does.
func exitHint(exit *hook.Raised) string {
	what := "exit"
	if slices.ContainsFunc(exit.Frames, func(f hook.Frame) bool {
		return strings.Contains(f.Text, ".parse_") && strings.Contains(f.Text, "_args(")
	}) {
		what = "parse the command line"
	}
	return what + " only below `if __name__ == \"__main__\":`, because a plugin is imported, not run as a script"
}

// pipeError returns the error of a worker that violates the protocol.
func pipeError(err error, exit hook.Exit) *hook.Error {
	return &hook.Error{Kind: hook.Start, Exit: &exit, Err: fmt.Errorf("the worker's pipe: %w", err)}
}

// noDescriptor is the beginning of the last line that Python prints if it cannot read the first
// frame.
const noDescriptor = "OSError: [Errno 9]"

func lastLine(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// diedStarting returns the error of a process that exited before it was ready. If it exited
// before hello, Python itself or the environment failed, unless a signal killed it.
func (inst *instance) diedStarting(greeted bool) *hook.Error {
	exit := inst.Exit()
	switch {
	case !greeted && strings.HasPrefix(lastLine(exit.Stderr), noDescriptor): // before inst.fault, which a slow exit sets, too
		first, both := "the handles", "inherited handles"
		if at := proc.DescriptorsOf(); at.In != 0 {
			first, both = fmt.Sprintf("descriptor %d", at.In), fmt.Sprintf("descriptors %d and %d", at.In, at.Out)
		}
		return &hook.Error{Kind: hook.Interpreter, Permanent: true,
			Err:   fmt.Errorf("%s closed %s, which pyplug needs to talk to Python: it is a wrapper, or runs one", inst.launcher.cfg.Python, first),
			Hints: schema.Hints("make the wrapper leave %s open, or pass the Python that it runs: %s PATH", both, schema.Setting("python"))}
	case inst.fault != nil:
		return pipeError(inst.fault, exit)
	case !greeted:
		kind := hook.Interpreter
		if exit.Signal != "" { // something else has killed it
			kind = hook.Start
		}
		e := &hook.Error{Kind: kind, Exit: &exit, Err: fmt.Errorf("%s exited before it ran the plugin", inst.launcher.cfg.Python)}
		if exit.Code == 0 {
			e.Hints = schema.Hints("let a script that runs Python wait for Python, and leave all descriptors as they are")
		}
		return e
	}
	return &hook.Error{Kind: hook.Start, Exit: &exit, At: stackFrames(exit.Stderr),
		Err: errors.New("the plugin exited while it was being imported")}
}
