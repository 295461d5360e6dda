package ui

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

var anError = Failure{Err: &hook.Error{Kind: hook.Timeout, Err: errors.New("too long")}}

// took runs f and returns its duration in the bubble.
func took(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

// TestFailNobodyReads checks that a failed command ends after drainTimeout if nobody reads the
// plugin's output. A reader that reads again gets the error.
func TestFailNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		s, _, _ := testStreams("")
		s.Err = g
		o := s.PluginOutput("p", false)
		for range roomSize/1000 + 100 {
			o.Line("stdout", strings.Repeat("x", 1020), 0)
		}
		if d := took(o.Close) + took(func() { s.Warn("x") }); d != 0 {
			t.Errorf("close and warn took %v", d)
		}
		if d := took(func() { s.Fail(t.Context(), anError) }); d != drainTimeout {
			t.Errorf("fail took %v, want %v", d, drainTimeout)
		}
		close(g.takes)
		synctest.Wait()
		if !strings.HasSuffix(g.String(), "error: timeout: too long\n") {
			t.Error("the error is lost to a reader who comes back")
		}
	})
}

// TestWarnUnderFlood checks that pyplug waits for its own line to be written, but not for later
// output of the plugin.
func TestWarnUnderFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		s, _, _ := testStreams("")
		s.Err = g
		o := s.PluginOutput("p", false)
		stop, ended, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			for {
				select {
				case <-stop:
					return
				default:
					o.Line("stdout", strings.Repeat("x", 1020), 0)
					time.Sleep(time.Millisecond) // lets the bubble's clock advance
				}
			}
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
