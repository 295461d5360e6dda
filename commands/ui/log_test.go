package ui

import (
	"strings"
	"testing"
	"time"
)

func TestLogLine(t *testing.T) {
	at := clock()
	local := at.Local().Format("2006-01-02 15:04:05.000")
	for _, c := range []struct {
		at           time.Time
		stream, text string
		tty, json    bool
		want         string
	}{
		{at, "stdout", "hello", false, false, local + " greeter | hello\n"},
		{at, "stderr", "a\x1b[31mred", true, false, local + ` greeter | a\x1b[31mred` + "\n"},
		{at, "pyplug", "ready: it started", false, false, local + " pyplug | ready: it started\n"},
		{time.Time{}, "", "panic: no", false, false, "panic: no\n"},
		{at, "stdout", "hello \"x\"", false, true, `{"schema":1,"time":"` + at.Local().Format(timeFormat) + `","plugin":"greeter","generation":2,"stream":"stdout","line":"hello \"x\""}` + "\n"},
		{time.Time{}, "", "panic: no", false, true, `{"schema":1,"plugin":"greeter","generation":2,"line":"panic: no"}` + "\n"},
	} {
		s, out, _ := Test("")
		s.OutTTY = c.tty
		if err := s.LogLine("greeter", c.at, 2, c.stream, c.text, c.json); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != c.want {
			t.Errorf("%q: got\n%s\nwant\n%s", c.text, got, c.want)
		}
		if strings.Contains(out.String(), "\x1b") {
			t.Errorf("%q: an escape came through", c.text)
		}
	}
}
