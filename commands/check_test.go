package commands

import (
	"errors"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

func TestReadCall(t *testing.T) {
	prog := &program{}
	call, err := prog.readCall(t.Context(), `pkg.Service/Method name="Ada L." -5`)
	if err != nil || call.Hook != "pkg.Service/Method" || len(call.Args.Words) != 2 {
		t.Errorf("got %+v, %v", call, err)
	}
	for in, want := range map[string]string{
		"":         `--call is "", expected a HOOK and its arguments`,
		" \n":      `--call is " \n", expected a HOOK and its arguments`,
		`greet "a`: `--call is "greet \"a": a " is not closed`,
		"'' World": `--call is "'' World", expected a HOOK and its arguments`,
		`greet a\`: `--call is "greet a\\": nothing follows the last backslash`,
		"\"\"":     `--call is "\"\"", expected a HOOK and its arguments`,
	} {
		_, err := prog.readCall(t.Context(), in)
		if err == nil || err.Error() != want || exitCode(err) != 2 {
			t.Errorf("%q: got %v, want %s", in, err, want)
		}
	}
}

// TestVerdictCode checks the exit code: the code of the first failure, or of a signal.
func TestVerdictCode(t *testing.T) {
	of := func(findings ...hook.Finding) hook.Report {
		var r hook.Report
		for _, f := range findings {
			r.Stages = append(r.Stages, hook.Stage{Verdict: f.Verdict, Findings: []hook.Finding{f}})
		}
		return r
	}
	var (
		note    = hook.Finding{Verdict: hook.Note}
		warning = hook.Finding{Verdict: hook.Warning}
		start   = hook.Finding{Verdict: hook.Failure, Kind: hook.Start}
		crash   = hook.Finding{Verdict: hook.Failure, Kind: hook.Crash}
		skipped = hook.Report{Stages: []hook.Stage{{Verdict: hook.Skipped}}}
	)
	for name, c := range map[string]struct {
		report hook.Report
		ended  error
		strict bool
		want   int
	}{
		"nothing":                {hook.Report{}, nil, true, 0},
		"skipped":                {skipped, nil, true, 0},
		"a note":                 {of(note), nil, false, 0},
		"a note, strict":         {of(note), nil, true, 0},
		"a warning":              {of(note, warning), nil, false, 0},
		"a warning, strict":      {of(warning, note), nil, true, 7},
		"a failure":              {of(warning, start), nil, false, 5},
		"a failure, strict":      {of(warning, start), nil, true, 5},
		"the first of two":       {of(crash, start), nil, false, 8},
		"interrupted":            {of(start), &hook.Error{Kind: hook.Canceled, Err: &signalError{syscall.SIGINT}}, false, 130},
		"terminated":             {of(), &hook.Error{Kind: hook.Canceled, Err: &signalError{syscall.SIGTERM}}, true, 143},
		"a bug":                  {of(start), &hook.Error{Kind: hook.Internal, Err: errors.New("x")}, false, 125},
		"nobody reads any more":  {of(start), errQuiet, false, 0},
		"a failure of no kind":   {of(hook.Finding{Verdict: hook.Failure}), nil, false, 125},
		"a failure of any stage": {of(hook.Finding{Verdict: hook.Failure, Kind: hook.Timeout}), nil, false, 124},
	} {
		if got := verdictCode(c.report, c.ended, c.strict); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}
