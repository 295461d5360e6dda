package runner

import (
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/pool"
)

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
	next := "it is being started again"
	if e.Next > 0 {
		next = fmt.Sprintf("it is started again in %v", max(e.Next.Round(100*time.Millisecond), 100*time.Millisecond))
	}
	return fmt.Sprintf("%v: %v; %s", e.Err, e.Cause, next)
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
	if !errors.As(err, &e) || e.Sent {
		return err
	}
	if !(errors.As(e.Err, &limit) && limit.What == pool.NoPlace) && !errors.As(e.Err, &full) {
		return err
	}
	absent := &AbsentError{Err: e.Err}
	for _, sup := range k.slots { // they no longer change
		switch st := sup.State(); {
		case st.State.Takes():
			return err
		case st.Cause != nil && (absent.Cause == nil || st.NextStart < absent.Next):
			absent.Cause, absent.Next = st.Cause, st.NextStart
		}
	}
	if absent.Cause == nil {
		return err
	}
	own := *e
	own.Err = absent
	if cause := (*hook.Error)(nil); errors.As(absent.Cause, &cause) {
		own.Python, own.Exit = cause.Python, cause.Exit
	}
	return &own
}
