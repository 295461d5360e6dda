package ui

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, out, errs := Test("")
		s.ErrTTY, s.OutTTY = true, true
		s.Waiting("what is quick")()
		stop := s.Waiting("starting \x1bgreeter")
		time.Sleep(quick + tick/2)
		o := s.PluginOutput(OutputOptions{Label: "p"})
		o.Line("stdout", "a line", 0)
		o.Close()
		time.Sleep(tick)
		if err := s.writeOut("data\n"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(quick + tick)
		stop()
		stop()
		got := errs.String()
		want := `- starting \x1bgreeter (1.0 s)` + eraseLine + "p | a line\n" +
			`\ starting \x1bgreeter (1.1 s)` + eraseLine + `- starting \x1bgreeter (2.2 s)` + eraseLine
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if out.String() != "data\n" {
			t.Errorf("got %q on standard output", out)
		}
	})
}

// Items keep the line away as long as they come within a second, and each finds
// it erased; a new wait may follow a stopped one.
func TestWaitingBetweenItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := Test("")
		both := &sized{width: 80} // one terminal
		s.Out, s.Err, s.ErrTTY, s.OutTTY = both, both, true, true
		stop := s.Waiting("counting")
		for range 5 {
			time.Sleep(quick / 2)
			if err := s.Item(Plain, "h", hook.Item{Value: []byte("1")}); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := both.take(), strings.Repeat("1\n", 5); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		time.Sleep(quick + tick/2)
		if err := s.Item(Plain, "h", hook.Item{Value: []byte("2")}); err != nil {
			t.Fatal(err)
		}
		stop()
		again := s.Waiting("again")
		time.Sleep(2*quick + tick/2)
		again()
		got := both.take()
		if !strings.Contains(got, " counting (3.5 s)"+eraseLine+"2\n") || !strings.HasSuffix(got, " again (2.0 s)"+eraseLine) {
			t.Errorf("got %q", got)
		}
	})
}

// Of two waits the later is shown, whichever ends first.
func TestWaitingOverlap(t *testing.T) {
	for _, innerFirst := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s, _, _ := Test("")
			errs := &sized{width: 80}
			s.Err, s.ErrTTY = errs, true
			outer := s.Waiting("outer")
			inner := s.Waiting("inner")
			time.Sleep(quick + 3*tick + tick/2)
			if got := errs.take(); strings.Contains(got, "outer") || strings.Count(got, "inner") != 4 {
				t.Errorf("got %q, want inner alone", got)
			}
			first, second, left := inner, outer, "outer"
			if !innerFirst {
				first, second, left = outer, inner, "inner"
			}
			first()
			errs.take()
			time.Sleep(2 * tick)
			second()
			got := errs.take()
			if strings.Count(got, left) != 2 || strings.Count(got, eraseLine) < 2 || !strings.HasSuffix(got, eraseLine) {
				t.Errorf("got %q, want %s alone, erased at the end", got, left)
			}
			time.Sleep(quick)
			if errs.take() != "" {
				t.Error("a stopped wait still draws")
			}
		})
	}
}

func TestWaitingElsewhere(t *testing.T) {
	drawsNothing(t, 5*time.Second, func(_ string, s *Streams) (stop func()) { return s.Waiting("x") })
}

// drawsNothing holds that what begin starts draws nothing where nobody watches.
func drawsNothing(t *testing.T, after time.Duration, begin func(where string, s *Streams) (stop func())) {
	synctest.Test(t, func(t *testing.T) {
		for where, set := range map[string]func(*Streams){
			"no terminal": func(s *Streams) { s.ErrTTY = false },
			"quiet":       func(s *Streams) { s.Quiet = true },
			"JSON":        func(s *Streams) { s.LogJSON = true },
			"dumb":        func(s *Streams) { s.Getenv = func(string) string { return "dumb" } },
		} {
			s, _, errs := Test("")
			s.ErrTTY = true
			set(s)
			stop := begin(where, s)
			time.Sleep(after)
			stop()
			if errs.Len() > 0 {
				t.Errorf("%s: got %q", where, errs)
			}
		}
	})
}

// sized is a terminal of a width that may change.
type sized struct {
	mu    sync.Mutex
	got   bytes.Buffer
	width int
}

func (w *sized) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.got.Write(b)
}

func (w *sized) columns() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.width
}

// resize gives the terminal another width.
func (w *sized) resize(width int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.width = width
}

// take is what was written since the last take.
func (w *sized) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.got.Reset()
	return w.got.String()
}

var elapsed = regexp.MustCompile(` \(1\.\d s\)$`)

func TestWaitingWidth(t *testing.T) {
	for _, what := range []string{"starting " + strings.Repeat("plugins/greeter/", 10), strings.Repeat("日本語", 40), "a\tb" + strings.Repeat("👩\u200d💻❤\ufe0f", 60)} {
		synctest.Test(t, func(t *testing.T) {
			s, _, _ := Test("")
			terminal := &sized{width: 40}
			s.Err, s.ErrTTY = terminal, true
			stop := s.Waiting(what)
			time.Sleep(quick - tick/2)
			for _, width := range []int{40, 3, 1, 12, 200, 80} {
				synctest.Wait()
				terminal.take()
				terminal.resize(width)
				time.Sleep(tick)
				synctest.Wait()
				got := strings.TrimPrefix(terminal.take(), eraseLine)
				n := textCells(got)
				if n >= max(width, 4) || width > 10 && n < min(width, 120)-5 || strings.ContainsAny(got, "\t\n") {
					t.Errorf("%d columns: got %q of %d cells", width, got, n)
				}
				if width > 10 && !elapsed.MatchString(got) && !strings.HasSuffix(got, "…") {
					t.Errorf("%d columns: got %q", width, got)
				}
			}
			stop()
		})
	}
}

func TestFit(t *testing.T) {
	for _, test := range []struct {
		text, tail string
		room       int
		want       string
	}{
		{"starting x (1 s)", " (1 s)", 16, "starting x (1 s)"},
		{"starting x (1 s)", " (1 s)", 15, "starting… (1 s)"},
		{"日本語 (1 s)", " (1 s)", 12, "日本語 (1 s)"},
		{"日本語語 (1 s)", " (1 s)", 13, "日本語… (1 s)"},
		{"starting x (1 s)", " (1 s)", 11, "star… (1 s)"},
		{"starting x (1 s)", " (1 s)", 9, "starting…"},
		{"starting x (1 s)", " (1 s)", 2, "s…"},
		{"starting x (1 s)", " (1 s)", 1, ""},
		{"", "", 0, ""},
	} {
		if got := fit(strings.TrimSuffix(test.text, test.tail), test.tail, test.room); got != test.want {
			t.Errorf("%q in %d: got %q, want %q", test.text, test.room, got, test.want)
		}
	}
}
