package lines

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// seriesCaller makes the calls of a series until one is slow. It records how many calls each series
// had, and how many were made.
type seriesCaller struct {
	callerFunc
	sizes []string
}

func (s *seriesCaller) CallSeries(ctx context.Context, calls *hook.Series) {
	got, began := len(calls.Calls), time.Now()
	for len(calls.Calls) > 0 && time.Since(began) == 0 {
		limited, cancel := hook.WithLimit(ctx, calls.Limit)
		r, err := s.callerFunc(limited, calls.Calls[0])
		cancel()
		if err != nil {
			calls.Answer(r, hook.AsError(err))
		} else {
			calls.Answer(r, nil)
		}
	}
	s.sizes = append(s.sizes, fmt.Sprintf("%d of %d", got-len(calls.Calls), got))
}

// TestSeries checks that calls are passed on together while they are fast, that calls behind a slow
// one are passed on again, that each call has its own timeout and is answered at once, and that no
// waiting line is called after a stop.
func TestSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &seriesCaller{callerFunc: sleeper}
		r := start(t, s, func(o *Options) { o.Jobs, o.Series, o.Timeout = 1, 8, 3*time.Second })
		go func() { // a line that comes alone is called at once
			_, _ = io.WriteString(r.in, "0\n")
			time.Sleep(time.Second)
			_, _ = io.WriteString(r.in, strings.Repeat("0\n", 22)+"2\n2\n9\n2\n2\n2\n2\n")
		}()
		r.wants(t, result(1, 0))
		time.Sleep(8500 * time.Millisecond)
		want := []string{}
		for i := range 23 {
			want = append(want, result(i+1, 0))
		}
		want = append(want, result(24, 2), result(25, 2), `{"id":26,"error":"timeout: timed out after 3s"}`)
		r.wants(t, want...)
		if c := r.Counts(); c.Running != 1 {
			t.Errorf("got %+v", c)
		}
		close(r.stop)
		<-r.done
		r.wants(t, append(want, result(27, 2))...)
		if !slices.Contains(s.sizes, "4 of 4") {
			t.Errorf("calls at once: %v", s.sizes)
		}
	})
}

// TestReleaseInOrder checks that lines which several jobs hand back are called in order. Otherwise
// the answers of later lines could fill the memory while the first line waits.
func TestReleaseInOrder(t *testing.T) {
	o := newOutbox(io.Discard, nil, true, 8)
	for i := range 8 {
		o.admit(&task{line: i + 1})
	}
	first, second := o.take(3), o.take(3)
	o.release(first, 1)
	o.release(second, 1)
	var got []int
	for _, task := range o.take(8) {
		got = append(got, task.line)
	}
	if want := []int{2, 3, 5, 6, 7, 8}; !slices.Equal(got, want) {
		t.Errorf("called are %v, want %v", got, want)
	}
}

// TestNoSeries checks that a caller that makes no series gets calls one by one.
func TestNoSeries(t *testing.T) {
	in := strings.Repeat("1\n", 100)
	_, counts := answers(t, callerFunc(echoed), in, func(o *Options) { o.Hook, o.Series = "h", 8 })
	if counts != (Counts{Answered: 100, Last: 100, Read: 200}) {
		t.Errorf("counts are %+v", counts)
	}
}
