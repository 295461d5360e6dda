package supervise

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// Policy says after which ends a plugin is started again. The zero Policy is
// [No].
type Policy uint8

// The policies.
const (
	No        Policy = iota // never
	OnFailure               // not after an exit with code 0 that no call was waiting for
	Always                  // after every exit that nobody asked for
)

var policyNames = [...]string{No: "no", OnFailure: "on-failure", Always: "always"}

// String is the policy's name in flags and manifests, such as "on-failure".
func (p Policy) String() string {
	if int(p) >= len(policyNames) {
		return fmt.Sprintf("policy(%d)", uint8(p))
	}
	return policyNames[p]
}

// ParsePolicy is the policy of that name.
func ParsePolicy(name string) (Policy, error) {
	i := slices.Index(policyNames[:], name)
	if i < 0 {
		return No, fmt.Errorf("restart policy %q, want no, on-failure or always", name)
	}
	return Policy(i), nil
}

// Rules say when a plugin is started again. In the zero value the policy is
// [No]; the other fields have the defaults that they name.
type Rules struct {
	Policy Policy
	// Backoff is the delay after the first failure in a row, 0: 1 s. It doubles
	// with each further one, up to BackoffMax, 0: 60 s. Up to a quarter is
	// added by chance, within BackoffMax.
	Backoff, BackoffMax time.Duration
	// HealthyAfter is how long an instance must have been ready for its end to
	// be the first failure in a row again; 0: 10 s.
	HealthyAfter time.Duration
	// MaxFailures is how many failures in a row end the attempts; 0: none does.
	MaxFailures int
	// Patient has who waits wait on when a start fails that is tried again. Else
	// they are told at once what it failed by, and so are those who come before
	// the next start.
	Patient bool
	// OneAtATime tells that no two instances can live at once, such as those
	// of a plugin with a fixed port: the old one goes before its replacement
	// starts.
	OneAtATime bool
}

const (
	defaultBackoff      = time.Second
	defaultBackoffMax   = time.Minute
	defaultHealthyAfter = 10 * time.Second
)

// missedProbes is how many probes in a row without an answer condemn.
const missedProbes = 3

// complete fills in the defaults.
func (r Rules) complete() Rules {
	r.Backoff = or(r.Backoff, defaultBackoff)
	r.BackoffMax = max(or(r.BackoffMax, defaultBackoffMax), r.Backoff)
	r.HealthyAfter = or(r.HealthyAfter, defaultHealthyAfter)
	return r
}

// or is d, or what stands for it when it is not set.
func or(d, instead time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return instead
}

// delay is how long to wait after so many failures in a row. The roll is from 0
// up to 1.
func (r Rules) delay(failures int, roll float64) time.Duration {
	d := r.Backoff
	for range failures - 1 {
		if d >= r.BackoffMax/2 {
			d = r.BackoffMax // and so it never overflows
			break
		}
		d *= 2
	}
	return min(d+time.Duration(roll*float64(d)/4), r.BackoffMax)
}

// Deterministic tells, as far as a [*hook.Error] shows it by itself, whether a
// start that failed with it will fail again until something of the plugin is
// changed: its source cannot be read, imports what is not there, or lacks a hook
// that a bootstrap call names; or there is no Python that can run it. What a
// refused handshake says is known to the transport alone.
func Deterministic(err error) bool {
	var e *hook.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case hook.Request:
		return true
	case hook.Interpreter:
		return e.Exit == nil // one that ended may do better
	case hook.Start:
		return e.Python != nil && slices.Contains(lasting, e.Python.Type)
	}
	return false
}

// lasting are the exceptions of an import that comes out the same every time.
var lasting = []string{"SyntaxError", "IndentationError", "TabError", "ImportError", "ModuleNotFoundError"}

// gaveUp is the answer to calls once the budget is spent. It tells all that is
// known of the last failure.
func gaveUp(failures int, last error) *hook.Error {
	times := fmt.Sprintf("%d failures in a row", failures)
	if failures == 1 {
		times = "1 failure"
	}
	e := &hook.Error{Kind: hook.Unavailable, Err: fmt.Errorf("gave up restarting after %s: %w", times, last)}
	if l := (*hook.Error)(nil); errors.As(last, &l) {
		e.Python, e.At, e.Exit, e.Tried = l.Python, l.At, l.Exit, l.Tried
	}
	return e
}

// exitOf is how the process ended that an error tells of, nil for none.
func exitOf(err error) *hook.Exit {
	if e := (*hook.Error)(nil); errors.As(err, &e) {
		return e.Exit
	}
	return nil
}

// reasonOf is an error as an event's reason: in one line, after the hook that
// failed, if one did.
func reasonOf(err error) string {
	reason, _, _ := strings.Cut(err.Error(), "\n")
	if e := (*hook.Error)(nil); errors.As(err, &e) && e.Hook != "" {
		reason = e.Hook + ": " + reason
	}
	return reason
}
