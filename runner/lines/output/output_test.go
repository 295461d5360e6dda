package output_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/lines/output"
)

// reader accepts one Write for each value sent to takes.
type reader struct {
	mu    sync.Mutex
	got   bytes.Buffer
	takes chan error
}

func (r *reader) Write(text []byte) (int, error) {
	err := <-r.takes
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.got.Write(text)
	}
	return len(text), err
}

func text(s string) func([]byte) []byte { return func(dst []byte) []byte { return append(dst, s...) } }

// took returns the duration and the result of f.
func took(f func() bool) (time.Duration, bool) {
	began := time.Now()
	ok := f()
	return time.Since(began), ok
}

// TestReaderReadsNothing checks that a wait ends after its limit, that a second wait with the same
// limit returns at once, and that a wait lasts up to its limit again after something was read.
func TestReaderReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reader{takes: make(chan error)}
		w := output.New(r, 4, nil)
		w.Append(text("123456789"))
		for _, c := range []struct {
			limit, want time.Duration
		}{{time.Second, time.Second}, {time.Second, 0}, {time.Millisecond, 0}, {time.Minute, time.Minute}} {
			if d, ok := took(func() bool { return w.Room(t.Context(), 9, c.limit) }); d != c.want || ok {
				t.Errorf("room within %v: %v after %v", c.limit, ok, d)
			}
		}
		r.takes <- nil
		synctest.Wait()
		if d, ok := took(func() bool { return w.Room(t.Context(), 9, time.Second) }); d != 0 || !ok {
			t.Errorf("room: %v after %v", ok, d)
		}
		if d, ok := took(func() bool { return w.Flush(time.Second, 0) }); d != time.Second || ok {
			t.Errorf("flush: %v after %v", ok, d)
		}
		close(r.takes)
		if !w.Flush(0, 0) || r.got.String() != "123456789" || w.Pending() != 0 {
			t.Errorf("got %q, %d pending", r.got.String(), w.Pending())
		}
	})
}

// TestSlowReader checks that progress restarts the limit of a wait, but not its total, and that
// Flush does not wait for text that is appended later.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reader{takes: make(chan error)}
		w := output.New(r, 1, nil)
		go func() { // reads a byte a second
			for range 30 {
				time.Sleep(time.Second)
				r.takes <- nil
			}
		}()
		w.Append(text(strings.Repeat("x", 20)))
		if d, ok := took(func() bool { return w.Flush(2*time.Second, 5*time.Second) }); d != 5*time.Second || ok {
			t.Errorf("with a total: %v after %v", ok, d)
		}
		go func() { time.Sleep(time.Second); w.Append(text("0123456789")) }()
		if d, ok := took(func() bool { return w.Flush(2*time.Second, 0) }); d != 15*time.Second || !ok {
			t.Errorf("%v after %v", ok, d)
		}
		w.Flush(0, 0)
	})
}

// TestWake checks that Wake causes a Write, even of no bytes, and that Flush waits for that Write.
func TestWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reader{takes: make(chan error)}
		w := output.New(r, 4, nil)
		w.Wake()
		synctest.Wait()
		w.Wake() // during the first Write
		if d, ok := took(func() bool { return w.Flush(time.Second, 0) }); d != time.Second || ok {
			t.Errorf("flush: %v after %v", ok, d)
		}
		go func() {
			for range 2 {
				time.Sleep(time.Second)
				r.takes <- nil
			}
		}()
		if d, ok := took(func() bool { return w.Flush(0, 0) }); d != 2*time.Second || !ok {
			t.Errorf("flush: %v after %v", ok, d)
		}
	})
}

// TestFails checks that the first error ends every wait and all writing.
func TestFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		r := &reader{takes: make(chan error, 1)}
		writes := 0
		w := output.New(r, 2, func() { writes++ })
		w.Append(text("1234"))
		go func() { time.Sleep(time.Second); r.takes <- broken }()
		if d, ok := took(func() bool { return w.Flush(0, 0) }); d != time.Second || !ok || !errors.Is(w.Err(), broken) {
			t.Errorf("%v after %v with %v", ok, d, w.Err())
		}
		w.Append(text("5"))
		w.Fail(errors.New("later"))
		synctest.Wait()
		if w.Pending() != 0 || writes != 1 || !errors.Is(w.Err(), broken) || r.got.Len() > 0 {
			t.Errorf("%d pending, %d writes, %v, %q", w.Pending(), writes, w.Err(), r.got.String())
		}
	})
}
