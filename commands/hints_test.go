package commands

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// TestTimeoutHint checks that a hint with --timeout appears only where --timeout sets the limit.
func TestTimeoutHint(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for _, c := range []struct {
		name string
		err  error
		want []schema.Hint
	}{
		{"a call", hook.Ended(ctx, "greet", "", true), hook.TimeoutHints},
		{"a health service", unanswered(&hook.Error{Kind: hook.Unhealthy, Err: &hook.LimitError{What: "no answer"}}), hook.TimeoutHints},
		{"reflection", &hook.Error{Kind: hook.Timeout, Err: &hook.LimitError{What: "no answer", Limit: time.Second}}, nil},
		{"a stop", &hook.Error{Kind: hook.Timeout, Err: &hook.LimitError{What: "the plugin did not exit"}}, nil},
		{"a start", &hook.Error{Kind: hook.Start, Err: &hook.LimitError{What: "the import did not finish"}}, nil},
	} {
		if got := completeError(c.err).Hints; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestNoHint checks that errors without a fix, and errors that already have all hints, get no hint.
func TestNoHint(t *testing.T) {
	for _, c := range []struct {
		p   plugin
		err error
	}{
		{&local{Keeper: new(runner.Keeper)}, errors.New("x")},
		{&background{}, &hook.Error{Kind: hook.Crash, Exit: &hook.Exit{OutOfMemory: true}}}, // already has all hints
	} {
		if got := c.p.complete(c.err).Hints; got != nil {
			t.Errorf("%v: got %q", c.err, got)
		}
	}
}
