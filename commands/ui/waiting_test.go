package ui

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
)

// sized is a terminal whose width may change.
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

// take returns what was written since the last take.
func (w *sized) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.got.Reset()
	return w.got.String()
}

// TestWaiting checks that on one terminal for both streams every line is separate, and that the
// line of a wait returns below it.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := testStreams("")
		both := &sized{width: 80}
		s.Out, s.Err, s.ErrTTY, s.OutTTY = both, both, true, true
		s.Waiting("what is quick")()
		stop := s.Waiting("starting \x1bgreeter")
		time.Sleep(quick + tick/2)
		o := s.PluginOutput("p", false)
		o.Line("stdout", "a line", 0)
		o.Close()
		time.Sleep(tick)
		if err := s.Item(Plain, "h", hook.Item{Value: []byte("1")}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(quick)
		stop()
		stop()
		time.Sleep(quick)
		got := both.take()
		const line = `. starting \\x1bgreeter \((1|2) s\)`
		if want := "^" + line + "\r\x1b\\[Kp \\| a line\n" + line + "\r\x1b\\[K1\n(" + line + "\r\x1b\\[K){10}$"; !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// TestWaitingOverlap checks that the first of two waits is shown, and then the other.
func TestWaitingOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := testStreams("")
		errs := &sized{width: 80}
		s.Err, s.ErrTTY = errs, true
		outer := s.Progress(func() string { return "outer" })
		inner := s.Waiting("inner")
		time.Sleep(quick + tick/2)
		if got := errs.take(); !strings.HasPrefix(got, "| outer (0 s)"+eraseLine) || strings.Contains(got, "inner") {
			t.Errorf("got %q, want outer alone", got)
		}
		outer()
		errs.take()
		time.Sleep(2 * tick)
		inner()
		if got := errs.take(); strings.Count(got, "inner") != 2 || !strings.HasSuffix(got, eraseLine) {
			t.Errorf("got %q, want inner, erased at the end", got)
		}
		time.Sleep(quick)
		if errs.take() != "" {
			t.Error("a stopped wait still draws")
		}
	})
}

func TestWaitingElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for where, set := range map[string]func(*Streams){
			"no terminal": func(s *Streams) { s.ErrTTY = false },
			"quiet":       func(s *Streams) { s.Quiet = true },
			"JSON":        func(s *Streams) { s.LogJSON = true },
			"dumb":        func(s *Streams) { s.Getenv = func(string) string { return "dumb" } },
		} {
			s, _, errs := testStreams("")
			s.ErrTTY = true
			set(s)
			stop := s.Progress(func() string { t.Errorf("%s: asked", where); return "" })
			time.Sleep(time.Second)
			stop()
			if errs.Len() > 0 {
				t.Errorf("%s: got %q", where, errs)
			}
		}
	})
}

// TestWaitingWidth checks that the line never wraps, because a wrapped line cannot be erased.
func TestWaitingWidth(t *testing.T) {
	for _, what := range []string{"starting " + strings.Repeat("plugins/greeter/", 10), strings.Repeat("日本語", 40), "a\tb" + strings.Repeat("👩\u200d💻❤\ufe0f", 60)} {
		synctest.Test(t, func(t *testing.T) {
			s, _, _ := testStreams("")
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
				n := runewidth.StringWidth(got)
				if n > 0 && n >= width || width > 10 && n < min(width, 120)-5 || strings.ContainsAny(got, "\t\n") {
					t.Errorf("%d columns: got %q of %d cells", width, got, n)
				}
				if width > 10 && !strings.HasSuffix(got, " (1 s)") {
					t.Errorf("%d columns: got %q", width, got)
				}
			}
			stop()
		})
	}
}

func TestLinesCounts(t *testing.T) {
	for _, c := range []struct {
		counts LinesCounts
		size   int64
		want   string
	}{
		{LinesCounts{}, 0, "waiting for standard input: 0 answered"},
		{LinesCounts{Counts: lines.Counts{Answered: 1, Running: 2}}, 0, "1 answered"},
		{LinesCounts{Counts: lines.Counts{Answered: 12345, Failed: 1000, Running: 1}, Restarts: 1}, 0, "12345 answered, 1000 failed, 1234 per second, 1 restart"},
		{LinesCounts{Counts: lines.Counts{Answered: 40}, Restarts: 12}, 0, "waiting for standard input: 40 answered, 4 per second, 12 restarts"},
		{LinesCounts{Counts: lines.Counts{Answered: 50, Failed: 1, Read: 500}, Restarts: 2}, 2000, "25 %: 50 answered, 1 failed, 5 per second, 30s left, 2 restarts"},
		{LinesCounts{Counts: lines.Counts{Answered: 70, Kept: 50, Read: 700, KeptRead: 500}}, 2000, "35 %: 70 answered, 50 from the record, 2 per second, 1m5s left"},
		{LinesCounts{Counts: lines.Counts{Answered: 70, Kept: 70, Read: 2001, KeptRead: 2001}}, 2000, "100 %: 70 answered, 70 from the record"},
	} {
		if got := c.counts.text(10*time.Second, c.size); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestLinesProgressLog checks that a log gets a line every ten seconds if the input is a file.
func TestLinesProgressLog(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(in, make([]byte, 200), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, json := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, _, errs := testStreams("")
			stop := s.LinesProgress(func() LinesCounts { return LinesCounts{} })
			time.Sleep(time.Minute)
			stop()
			file, err := os.Open(in)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			s.In, s.LogJSON, s.Now = file, json, func() time.Time { return time.Now().UTC() }
			stop = s.LinesProgress(func() LinesCounts { return LinesCounts{Counts: lines.Counts{Answered: 20, Read: 50, Failed: 1}} })
			time.Sleep(25 * time.Second)
			stop()
			want := "note: 25 %: 20 answered, 1 failed, 2 per second, 30s left\nnote: 25 %: 20 answered, 1 failed, 1 per second, 1m0s left\n"
			if json {
				want = ""
				for _, rest := range []string{
					`10.000Z","level":"note","message":"25 %: 20 answered, 1 failed, 2 per second, 30s left","percent":25,"answered":20,"from_record":0,"failed":1,"per_second":2,"left_ms":30000,"restarts":0}`,
					`20.000Z","level":"note","message":"25 %: 20 answered, 1 failed, 1 per second, 1m0s left","percent":25,"answered":20,"from_record":0,"failed":1,"per_second":1,"left_ms":60000,"restarts":0}`,
				} {
					want += `{"time":"2000-01-01T00:01:` + rest + "\n"
				}
			}
			if got := errs.String(); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}
