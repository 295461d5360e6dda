package supervise

import (
	"errors"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

func TestDelay(t *testing.T) {
	for _, test := range []struct {
		rules    Rules
		failures int
		roll     float64
		want     time.Duration
	}{
		{Rules{}, 1, 0, time.Second},
		{Rules{}, 1, 0.5, 1125 * time.Millisecond},
		{Rules{}, 3, 0, 4 * time.Second},
		{Rules{}, 6, 0.75, 38 * time.Second},
		{Rules{}, 7, 0, time.Minute},
		{Rules{}, 7, 0.99, time.Minute},
		{Rules{}, 1 << 40, 0.5, time.Minute},
		{Rules{BackoffMax: 1 << 62, Backoff: 1 << 61}, 3, 0, 1 << 62},
		{Rules{Backoff: 3 * time.Second, BackoffMax: 5 * time.Second}, 1, 0.5, 3375 * time.Millisecond},
		{Rules{Backoff: 3 * time.Second, BackoffMax: 5 * time.Second}, 2, 0, 5 * time.Second},
		{Rules{Backoff: time.Hour}, 1, 0.5, time.Hour},
	} {
		if got := test.rules.complete().delay(test.failures, test.roll); got != test.want {
			t.Errorf("%+v after %d failures with %v: got %v, want %v", test.rules, test.failures, test.roll, got, test.want)
		}
	}
}

func TestPolicyNames(t *testing.T) {
	for _, p := range []Policy{No, OnFailure, Always} {
		if got, err := ParsePolicy(p.String()); got != p || err != nil {
			t.Errorf("%s: got %s with %v", p, got, err)
		}
	}
	if _, err := ParsePolicy("never"); err == nil || err.Error() != `restart policy "never", want no, on-failure or always` {
		t.Errorf("got %v", err)
	}
	if got := Policy(9).String(); got != "policy(9)" {
		t.Errorf("got %s", got)
	}
}

func TestDeterministic(t *testing.T) {
	raised := func(name string) *hook.Error {
		return &hook.Error{Kind: hook.Start, Python: &hook.Raised{Type: name}}
	}
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("x"), false},
		{raised("SyntaxError"), true},
		{raised("ModuleNotFoundError"), true},
		{raised("ConnectionError"), false},
		{&hook.Error{Kind: hook.Start, Exit: &hook.Exit{Code: 1}}, false},
		{&hook.Error{Kind: hook.Request}, true},
		{&hook.Error{Kind: hook.Interpreter}, true},
		{&hook.Error{Kind: hook.Interpreter, Exit: &hook.Exit{}}, false},
		{&hook.Error{Kind: hook.Handshake}, false},
		{&hook.Error{Kind: hook.Canceled}, false},
	} {
		if got := Deterministic(test.err); got != test.want {
			t.Errorf("%#v: got %v, want %v", test.err, got, test.want)
		}
	}
}

func TestGaveUpTellsTheLastFailure(t *testing.T) {
	raised := &hook.Raised{Type: "OSError"}
	e := gaveUp(1, &hook.Error{Kind: hook.Start, Python: raised})
	if e.Kind != hook.Unavailable || e.Python != raised || e.Error() != "gave up restarting after 1 failure: OSError" {
		t.Errorf("got %+v", e)
	}
}

func TestReasonIsOneLine(t *testing.T) {
	for want, err := range map[string]error{
		"a":          errors.New("a\nb"),
		"seed: full": &hook.Error{Kind: hook.Failed, Hook: "seed", Err: errors.New("full\nof it")},
	} {
		if got := reasonOf(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
