package ui

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLinesCounts(t *testing.T) {
	for _, c := range []struct {
		counts LinesCounts
		want   string
	}{
		{LinesCounts{}, "waiting for standard input: 0 answered"},
		{LinesCounts{Answered: 1, Running: 2}, "1 answered"},
		{LinesCounts{Answered: 12345, Failed: 1000, Running: 1, Restarts: 1}, "12 345 answered, 1 000 failed, 1 234 per second, 1 restart"},
		{LinesCounts{Answered: 40, Restarts: 12}, "waiting for standard input: 40 answered, 4 per second, 12 restarts"},
	} {
		if got := c.counts.text(10 * time.Second); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestLinesOut writes answers as they are, and harmless on a terminal.
func TestLinesOut(t *testing.T) {
	line := "{\"id\":1,\"result\":\"\u009b2J\x7f\"}\n"
	for terminal, want := range map[bool]string{false: line, true: `{"id":1,"result":"\u009b2J\u007f"}` + "\n"} {
		s, out, _ := Test("")
		s.OutTTY = terminal
		if n, err := s.Lines().Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if out.String() != want {
			t.Errorf("got %q, want %q", out, want)
		}
	}
	s, _, _ := Test("")
	s.Out = fullOut{}
	if _, err := s.Lines().Write([]byte("1\n")); !errors.Is(err, errNoRoom) {
		t.Errorf("the error is %v", err)
	}
}

var errNoRoom = errors.New("no room")

type fullOut struct{}

func (fullOut) Write([]byte) (int, error) { return 0, errNoRoom }

// TestLinesProgress shows it from the first second on, and not in the midst of
// answers on the same terminal.
func TestLinesProgress(t *testing.T) {
	for _, same := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, _, _ := Test("")
			errs := &sized{width: 80}
			s.Err, s.ErrTTY, s.OutTTY = errs, true, same
			stop := s.LinesProgress(func() LinesCounts { return LinesCounts{Answered: 7, Running: 1} })
			time.Sleep(900 * time.Millisecond)
			if _, err := s.Lines().Write([]byte("1\n")); err != nil {
				t.Error(err)
			}
			time.Sleep(500 * time.Millisecond)
			synctest.Wait()
			if shown := strings.Contains(errs.take(), "7 answered"); shown == same {
				t.Errorf("half a second after an answer, on the same terminal %v: shown %v", same, shown)
			}
			time.Sleep(time.Second)
			stop()
			if got := errs.take(); !strings.Contains(got, "7 answered") || !strings.HasSuffix(got, eraseLine) {
				t.Errorf("standard error is %q", got)
			}
		})
	}
}
