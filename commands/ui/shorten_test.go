package ui

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// flood prints without end until stop is closed.
func flood(o *Output, stop <-chan struct{}) {
	line := strings.Repeat("x", 1020)
	for {
		select {
		case <-stop:
			return
		default:
			for range 20 {
				o.Line("stdout", line, 0)
			}
			time.Sleep(10 * time.Millisecond) // lets the bubble's clock go on
		}
	}
}

var anError = Failure{Err: &hook.Error{Kind: hook.Timeout, Err: errors.New("too long")}}

// took runs f and returns how long it took in the bubble.
func took(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

// With a plugin that prints without end and no reader, the end of a
// command costs no more than the error's own writeTimeout.
func TestFailNobodyReads(t *testing.T) {
	for _, test := range []struct {
		name      string
		terminal  bool
		short     bool
		close     time.Duration
		fail, say time.Duration
	}{
		{"pipe", false, false, 0, failTimeout, 0},
		{"terminal", true, false, 0, userTimeout, 0},
		{"short", false, true, 0, 0, 0},
		{"terminal, short", true, true, 0, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGate()
				s, _, _ := Test("")
				s.Err, s.ErrTTY = g, test.terminal
				o := s.PluginOutput(OutputOptions{Label: "p"})
				stop, ended := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(ended)
					flood(o, stop)
				}()
				time.Sleep(2 * writeTimeout)
				if test.short {
					s.ShortenWaits()
					s.ShortenWaits()
				}
				for what, c := range map[string]struct {
					got, most time.Duration
				}{
					"close": {took(o.Close), test.close}, "warn": {took(func() { s.Warn("x") }), test.say},
					"fail": {took(func() { s.Fail(anError) }), test.fail},
				} {
					if c.got != c.most {
						t.Errorf("%s took %v, want %v", what, c.got, c.most)
					}
				}
				close(stop)
				<-ended
				close(g.takes)
				synctest.Wait()
				if !strings.Contains(g.String(), "error: timeout: too long") {
					t.Error("the error is lost to a reader who comes back")
				}
			})
		})
	}
}

// A short ends the waits that go on, and shortens those to come.
func TestShortenWaits(t *testing.T) {
	line := strings.Repeat("x", 1020)
	for name, wait := range map[string]func(*Streams, *Output){
		"close": func(_ *Streams, o *Output) { o.Close() },
		"fail":  func(s *Streams, _ *Output) { s.Fail(anError) },
		"JSON": func(s *Streams, _ *Output) {
			f := anError
			f.JSON = true
			s.Fail(f)
		},
		"warn": func(s *Streams, _ *Output) { s.Warn("x") },
		"line": func(_ *Streams, o *Output) {
			for range roomSize/1000 + 1 {
				o.Line("stdout", line, 0)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []time.Duration{-1, 50 * time.Millisecond} {
				synctest.Test(t, func(t *testing.T) {
					g := newGate()
					s, _, _ := Test("")
					s.Out, s.Err = g, g
					o := s.PluginOutput(OutputOptions{Label: "p"})
					o.Line("stdout", line, 0)
					if before < 0 {
						s.ShortenWaits()
					} else {
						time.AfterFunc(before, s.ShortenWaits)
					}
					if d := took(func() { wait(s, o) }); d > max(before, 0)+shortWriteTimeout {
						t.Errorf("took %v, with the short after %v", d, before)
					}
					close(g.takes)
				})
			}
		})
	}
}

// A reader gets everything, after ShortenWaits, too. A slow one blocks nothing.
func TestShortenWaitsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, out, errs := Test("")
		s.ShortenWaits()
		o := s.PluginOutput(OutputOptions{Label: "p"})
		o.Line("stdout", "last words", 0)
		o.Close()
		s.Fail(anError)
		f := anError
		f.JSON = true
		s.Fail(f)
		if got := errs.String(); got != "p | last words\nerror: timeout: too long\n" || !strings.Contains(out.String(), "too long") {
			t.Errorf("got %q and %q", got, out)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		s, _, _ := Test("")
		s.Err = g
		o := s.PluginOutput(OutputOptions{Label: "p"})
		for range 1000 {
			o.Line("stdout", strings.Repeat("x", 1020), 0)
		}
		done, left := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(left)
			for {
				time.Sleep(shortWriteTimeout / 2)
				select {
				case g.takes <- struct{}{}:
				case <-done:
					close(g.takes)
					return
				}
			}
		}()
		s.ShortenWaits()
		if d := took(o.Close); d != shortDrainTimeout {
			t.Errorf("took %v, want %v", d, shortDrainTimeout)
		}
		close(done)
		<-left
	})
}

// A line of ours is waited for, and not what a plugin prints after it.
func TestWarnUnderFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		s, _, _ := Test("")
		s.Err = g
		o := s.PluginOutput(OutputOptions{Label: "p"})
		stop, ended, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			flood(o, stop)
		}()
		go func() {
			defer close(left)
			for {
				select {
				case g.takes <- struct{}{}:
					time.Sleep(10 * time.Millisecond)
				case <-ended:
					close(g.takes)
					return
				}
			}
		}()
		time.Sleep(time.Second)
		if d := took(func() { s.Warn("x") }); d > 2*time.Second {
			t.Errorf("took %v", d)
		}
		close(stop)
		<-left
	})
}
