package ui

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// gate is a reader of standard error that accepts a write when the test allows it.
type gate struct {
	mu    sync.Mutex
	got   bytes.Buffer
	takes chan struct{} // receives a value for each write to accept; if closed, all writes are accepted
}

func newGate() *gate { return &gate{takes: make(chan struct{})} }

func (g *gate) Write(b []byte) (int, error) {
	<-g.takes
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.got.Write(b)
}

func (g *gate) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.got.String()
}

func clock() time.Time { return time.Date(2024, 1, 2, 3, 4, 5, 67e6, time.UTC) }

func TestOutputText(t *testing.T) {
	for in, want := range map[string]string{
		"tab\there é 😀":        "tab\there é 😀",
		"\x1b[31mred\x1b[0m\a": `\x1b[31mred\x1b[0m\x07`,
		"crlf\r":               "crlf",
		"10%\r20%":             `10%\x0d20%`,
		"\x80\xffé\u009b\x7f":  `\x80\xffé\u009b\x7f`,
		" \u00a0::set-env::x":  " \u00a0:\\:set-env::x",
		"a ##[error]x ##vso[task] ##teamcity[x] # ## ###[x": `a #\#[error]x #\#vso[task] #\#teamcity[x] # ## ##\#[x`,
	} {
		s, _, errs := testStreams("")
		o := s.PluginOutput("greeter", false)
		o.Line("stdout", in, 0)
		o.Line("stderr", in, 184000)
		o.Close()
		if got, want := errs.String(), "greeter | "+want+"\ngreeter | "+want+" … (184000 bytes left out)\n"; got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestOutputJSON(t *testing.T) {
	s, _, errs := testStreams("")
	s.Now, s.LogJSON = clock, true
	o := s.PluginOutput("greeter", false)
	o.Line("stdout", "a \"b\" <é>\x1b", 0)
	o.SetGeneration(2)
	o.Line("stderr", "##[error]\xff", 7)
	o.Close()
	want := `{"time":"2024-01-02T03:04:05.067Z","plugin":"greeter","stream":"stdout","line":"a \"b\" <é>\u001b"}
{"time":"2024-01-02T03:04:05.067Z","plugin":"greeter","generation":2,"stream":"stderr","line":"\u0023#[error]\ufffd","cut":7}
`
	if got := errs.String(); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestOutputQuiet(t *testing.T) {
	s, _, errs := testStreams("")
	o := s.PluginOutput("x", true)
	o.Line("stdout", "hello", 0)
	o.Close()
	if errs.Len() > 0 {
		t.Errorf("got %q", errs)
	}
}

// TestOutputNobodyReads checks that a reader that reads nothing costs only one second. Lines are
// dropped, counted and reported when it reads again.
func TestOutputNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		s, _, _ := testStreams("")
		s.Err = g
		o := s.PluginOutput("p", false)
		line := strings.Repeat("x", 1020)
		began := time.Now()
		const lines = 3000
		for range lines {
			o.Line("stdout", line, 0)
		}
		if took := time.Since(began); took != writeTimeout {
			t.Errorf("the plugin was held up for %v, want %v", took, writeTimeout)
		}
		o.Close()
		s.Warn("too late")
		if took := time.Since(began); took != writeTimeout {
			t.Errorf("closing took until %v, want %v: the reader is known not to read", took, writeTimeout)
		}
		close(g.takes)
		synctest.Wait()
		kept := strings.Count(g.String(), "p | x")
		want := fmt.Sprintf("… %s lines of the plugin's output dropped: standard error is not being read\nwarning: too late\n", strconv.Itoa(lines-kept))
		if got := g.String(); !strings.HasSuffix(got, "x\n"+want) || kept < 1000 || kept > 1100 {
			t.Errorf("kept %d lines, ends in %q, want %q", kept, got[len(got)-100:], want)
		}
		o.Line("stdout", "after", 0)
		o.Close()
		if !strings.HasSuffix(g.String(), "late\np | after\n") {
			t.Errorf("nothing comes after the drop")
		}
	})
}

// TestOutputSlowReader checks that pyplug waits for a slow reader and loses nothing.
func TestOutputSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		s, _, _ := testStreams("")
		s.Err = g
		o := s.PluginOutput("p", false)
		stop := make(chan struct{})
		var reader sync.WaitGroup
		reader.Go(func() {
			for {
				select {
				case g.takes <- struct{}{}:
				case <-stop:
					return
				}
				time.Sleep(writeTimeout - time.Millisecond)
			}
		})
		line := strings.Repeat("x", 1020)
		const lines = 1200
		for range lines {
			o.Line("stdout", line, 0)
		}
		o.Close() // takes at most ten seconds
		close(stop)
		reader.Wait()
		close(g.takes)
		synctest.Wait()
		if got := strings.Count(g.String(), "p | x"); got != lines {
			t.Errorf("got %d lines, want %d", got, lines)
		}
	})
}

type closedPipe struct{ writes int }

func (c *closedPipe) Write([]byte) (int, error) {
	c.writes++
	return 0, fmt.Errorf("write: %w", syscall.EPIPE)
}

func TestOutputReaderGone(t *testing.T) {
	s, _, _ := testStreams("")
	c := &closedPipe{}
	s.Err = c
	o := s.PluginOutput("p", false)
	for range 10000 {
		o.Line("stdout", strings.Repeat("x", 1000), 0)
	}
	o.Close()
	s.Warn("nobody hears this")
	if c.writes != 1 {
		t.Errorf("wrote %d times to a closed pipe", c.writes)
	}
}

func TestOutputConcurrent(t *testing.T) {
	s, _, errs := testStreams("")
	o := s.PluginOutput("p", false)
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for range 500 {
				o.Line("stdout", strings.Repeat(string(rune('a'+n)), 50), 0)
			}
		})
	}
	wg.Wait()
	o.Close()
	lines := strings.Split(strings.TrimSuffix(errs.String(), "\n"), "\n")
	if len(lines) != 2000 {
		t.Errorf("got %d lines, want 2000", len(lines))
	}
	for _, line := range lines {
		if body := strings.TrimPrefix(line, "p | "); body != strings.Repeat(body[:1], 50) {
			t.Fatalf("a mixed line: %q", line)
		}
	}
}
