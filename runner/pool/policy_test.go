package pool

import (
	"errors"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/settings"
)

// TestPolicy checks the action after each ending under each policy.
func TestPolicy(t *testing.T) {
	long := 10 * time.Second
	for name, c := range map[string]struct {
		policy   Policy
		ending   ending
		before   int
		want     action
		delay    time.Duration
		failures int
	}{
		"exit during a call":             {Policy{Restart: settings.Always}, ending{duringCall: true}, 4, restartNow, 0, 4},
		"exit during a call, long ready": {Policy{Restart: settings.Always}, ending{duringCall: true, ready: long}, 4, restartNow, 0, 0},
		"exit during a call, on-failure": {Policy{Restart: settings.OnFailure}, ending{duringCall: true, clean: true}, 0, restartNow, 0, 0},
		"exit during a call, no":         {Policy{}, ending{duringCall: true}, 0, giveUp, 0, 1},
		"idle exit":                      {Policy{Restart: settings.Always}, ending{}, 0, backOff, time.Second, 1},
		"second idle exit":               {Policy{Restart: settings.Always}, ending{}, 1, backOff, 2 * time.Second, 2},
		"idle exit, long ready":          {Policy{Restart: settings.Always}, ending{ready: long}, 5, backOff, time.Second, 1},
		"idle exit, almost long ready":   {Policy{Restart: settings.Always}, ending{ready: long - 1}, 5, backOff, 32 * time.Second, 6},
		"idle exit, no":                  {Policy{}, ending{}, 0, giveUp, 0, 1},
		"clean exit, always":             {Policy{Restart: settings.Always}, ending{clean: true}, 0, backOff, time.Second, 1},
		"clean exit, on-failure":         {Policy{Restart: settings.OnFailure}, ending{clean: true}, 3, stayStopped, 0, 3},
		"clean exit, no":                 {Policy{}, ending{clean: true}, 0, stayStopped, 0, 0},
		"failed start":                   {Policy{Restart: settings.Always}, ending{startFailed: true}, 0, backOff, time.Second, 1},
		"permanent failure":              {Policy{Restart: settings.Always}, ending{startFailed: true, permanent: true}, 0, giveUp, 0, 1},
		"the last of the budget":         {Policy{Restart: settings.Always, MaxFailures: 5}, ending{startFailed: true}, 4, giveUp, 0, 5},
		"before the last":                {Policy{Restart: settings.Always, MaxFailures: 5}, ending{}, 3, backOff, 8 * time.Second, 4},
		"the cap":                        {Policy{Restart: settings.Always}, ending{}, 1 << 40, backOff, time.Minute, 1<<40 + 1},
	} {
		got, delay, failures := c.policy.withDefaults().next(c.ending, c.before, 0)
		if got != c.want || delay != c.delay || failures != c.failures {
			t.Errorf("%s: got %v, %v, %d; want %v, %v, %d", name, got, delay, failures, c.want, c.delay, c.failures)
		}
	}
}

// TestJitter checks that the random part adds up to a quarter to the delay, within BackoffMax.
func TestJitter(t *testing.T) {
	p := Policy{Backoff: 4 * time.Second, BackoffMax: 18 * time.Second}.withDefaults()
	for failures, want := range []time.Duration{0, 5 * time.Second, 10 * time.Second, 18 * time.Second} {
		if got := p.delay(max(1, failures), 1); failures > 0 && got != want {
			t.Errorf("after %d failures: got %v, want %v", failures, got, want)
		}
	}
}

// TestPermanent checks which errors of a start are permanent.
func TestPermanent(t *testing.T) {
	for want, all := range map[bool][]*hook.Error{
		true:  {{Kind: hook.Start, Permanent: true}, {Kind: hook.Request}},
		false: {{Kind: hook.Start}, {Kind: hook.Interpreter}, {Kind: hook.Handshake, Reason: "tls"}, hook.AsError(errors.New("other"))},
	} {
		for _, e := range all {
			if got := permanent(e); got != want {
				t.Errorf("%+v: got %v", e, got)
			}
		}
	}
}

// TestOutcomes checks the outcome of each kind of error.
func TestOutcomes(t *testing.T) {
	for _, k := range hook.Kinds() {
		if _, ok := outcomes[k]; !ok {
			t.Errorf("%v has no outcome", k)
		}
		for _, begun := range []bool{false, true} {
			o := outcomeOf(&hook.Error{Kind: k, Begun: begun})
			if begun && o.retry || o.kind != k {
				t.Errorf("%v, begun %v: got %+v", k, begun, o)
			}
		}
	}
	if o := outcomeOf(nil); o != (outcome{}) {
		t.Errorf("success: got %+v", o)
	}
}
