package runner

import (
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/pool"
)

// LaterError says that a call was not made since the plugin did not start, and when
// it is tried again.
type LaterError = pool.LaterError

// AbsentError says that a call found no place since no worker is ready, and what
// the last one failed by.
type AbsentError struct {
	// Err is what the call waited for.
	Err error
	// Cause is what failed last.
	Cause error
	// Next is how long it is until the next start, 0 when that is under way.
	Next time.Duration
}

// Error says what the call waited for, and then why in vain.
func (e *AbsentError) Error() string {
	return fmt.Sprintf("%v: %v; %s", e.Err, e.Cause, (&LaterError{Next: e.Next}).When())
}

// Unwrap returns what the call waited for, and what failed.
func (e *AbsentError) Unwrap() []error { return []error{e.Err, e.Cause} }

// explain adds to the error of a call that found no place why no worker was ready.
func (k *Kept) explain(err error) error {
	var (
		e     *hook.Error
		limit *hook.LimitError
		full  *FullError
	)
	if !errors.As(err, &e) || e.Begun {
		return err
	}
	if !(errors.As(e.Err, &limit) && limit.What == pool.NoPlace) && !errors.As(e.Err, &full) {
		return err
	}
	absent := k.absent(e.Err)
	if absent == nil {
		return err
	}
	own := *e
	absent.tellIn(&own)
	return &own
}

// absent says why no worker is ready, where somebody waited in vain; nil when one
// is, and when nothing failed.
func (k *Kept) absent(waited error) *AbsentError {
	absent := &AbsentError{Err: waited}
	for _, sup := range k.slots { // they no longer change
		switch st := sup.State(); {
		case st.State.Takes():
			return nil
		case st.Cause != nil && (absent.Cause == nil || st.NextStart < absent.Next):
			absent.Cause, absent.Next = st.Cause, st.NextStart
		}
	}
	if absent.Cause == nil {
		return nil
	}
	return absent
}

// tellIn has an error tell it, with all that is known of the cause.
func (e *AbsentError) tellIn(own *hook.Error) {
	own.Err = e
	if cause := (*hook.Error)(nil); errors.As(e.Cause, &cause) {
		own.Python, own.At, own.Exit = cause.Python, cause.At, cause.Exit
	}
}
