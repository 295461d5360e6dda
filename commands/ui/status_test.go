package ui

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/pyplug/pyplug/runner/hook"
)

// backgrounds returns three plugins: one that is ready, one that waits for its restart, and one
// that does not respond.
func backgrounds() []Background {
	return []Background{
		{Name: "greeter", Plugin: "/srv/plugins/greeter.py", Python: "/usr/bin/python3", Socket: "/run/greeter.sock", Log: "/run/greeter.log",
			State: hook.StateReady, Status: &hook.Status{State: hook.StateReady, Generation: 2, PID: 4711, Workers: 1, Ready: 1, Uptime: hook.Milliseconds(3*time.Minute + 20*time.Second),
				Restarts: 1, Calls: 1200, Failed: 3, Memory: 12 << 20}},
		{Name: "resize", Plugin: "/srv/plugins/resize", Socket: "/run/resize.sock", Log: "/run/resize.log",
			State: hook.StateBackoff, Status: &hook.Status{State: hook.StateBackoff, Workers: 1, Restarts: 7, NextStart: hook.Milliseconds(4 * time.Second),
				LastExit: &hook.Exit{Code: 3, Uptime: time.Second, Stderr: []string{"no"}}}},
		{Name: "stuck", Plugin: "/srv/plugins/stuck.py", Daemon: 4711, State: "unknown", Problem: "did not respond within 2s"},
	}
}

func TestStatuses(t *testing.T) {
	const whole = `
NAME     STATE    PID   UPTIME  CALLS  FAILED  RESTARTS  MEMORY  PLUGIN                   NOTE
greeter  ready    4711  3m20s   1200   3       1         12 MB   /srv/plugins/greeter.py
resize   backoff  -     -       0      0       7         -       /srv/plugins/resize      restarting in 4s; exited: exit code 3
stuck    unknown  -     -       -      -       -         -       /srv/plugins/stuck.py    did not respond within 2s
`
	s, out, _ := testStreams("")
	if err := s.Statuses(backgrounds(), false); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), whole[1:]; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	// Empty columns are omitted: notes if all plugins are ready, and the number of workers if every
	// plugin has one.
	out.Reset()
	if err := s.Statuses(backgrounds()[:1], false); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Contains(got, "NOTE") || strings.Contains(got, "WORKERS") {
		t.Errorf("got\n%s", got)
	}
	out.Reset()
	two := backgrounds()[:1]
	two[0].Status.Workers, two[0].Status.Ready = 4, 3
	if err := s.Statuses(two, false); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "WORKERS") || !strings.Contains(got, "  3/4  ") {
		t.Errorf("got\n%s", got)
	}

	out.Reset()
	if err := s.Statuses(nil, false); err != nil || out.Len() > 0 {
		t.Errorf("of none: %q, %v", out, err)
	}
}

// TestStatusesNarrow checks that a table is never wider than the terminal. Text that does not fit
// is below its line, and never cut.
func TestStatusesNarrow(t *testing.T) {
	for _, width := range []int{80, 100, 140} {
		s, _, _ := testStreams("")
		out := &sized{width: width}
		s.Out, s.OutTTY = out, true
		if err := s.Statuses(backgrounds(), false); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.take()), "\n")
		text := strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
		for _, want := range []string{"NAME STATE PID UPTIME CALLS FAILED RESTARTS MEMORY", "/srv/plugins/resize", "restarting in 4s; exited: exit code 3", "did not respond within 2s"} {
			if !strings.Contains(text, want) {
				t.Errorf("width %d: no %s in\n%s", width, want, strings.Join(lines, "\n"))
			}
		}
		for _, line := range lines {
			if runewidth.StringWidth(line) >= width {
				t.Errorf("width %d: a line is too wide: %q", width, line)
			}
		}
	}
}

func TestStatusesJSON(t *testing.T) {
	s, out, _ := testStreams("")
	if err := s.Statuses(backgrounds(), true); err != nil {
		t.Fatal(err)
	}
	want := `{"schema":1,"plugins":[` +
		`{"name":"greeter","plugin":"/srv/plugins/greeter.py","state":"ready","pid":4711,"generation":2,"workers":1,"ready":1,"uptime_ms":200000,` +
		`"restarts":1,"calls":1200,"failed":3,"running":0,"queued":0,"memory_bytes":12582912,"cpu_ms":0,"socket":"/run/greeter.sock","log":"/run/greeter.log","python":"/usr/bin/python3"},` +
		`{"name":"resize","plugin":"/srv/plugins/resize","state":"backoff","workers":1,"ready":0,"restarts":7,"calls":0,"failed":0,"running":0,"queued":0,` +
		`"last_exit":{"code":3,"after_ms":1000,"stderr":["no"]},"cpu_ms":0,"next_restart_ms":4000,"socket":"/run/resize.sock","log":"/run/resize.log"},` +
		`{"name":"stuck","plugin":"/srv/plugins/stuck.py","state":"unknown","problem":"did not respond within 2s","socket":"","log":"","daemon_pid":4711}]}` + "\n"
	var got, wanted any
	if err := errors.Join(json.Unmarshal(out.Bytes(), &got), json.Unmarshal([]byte(want), &wanted)); err != nil || !reflect.DeepEqual(got, wanted) {
		t.Errorf("got\n%s\n%v, want\n%s", out, err, want)
	}
	out.Reset()
	if err := s.Statuses(nil, true); err != nil || out.String() != `{"schema":1,"plugins":[]}`+"\n" {
		t.Errorf("of none: %q, %v", out, err)
	}
}

// TestStatusWatch checks that without a terminal a watch prints each change once.
func TestStatusWatch(t *testing.T) {
	s, out, _ := testStreams("")
	s.Now = clock
	w := s.WatchStatuses(false)
	show := func(plugins []Background, want string) {
		t.Helper()
		out.Reset()
		if err := w.Show(plugins); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
	all := backgrounds()[:2]
	show(all, "03:04:05  greeter  ready  pid 4711\n03:04:05  resize  backoff  restarting in 4s; exited: exit code 3\n")
	show(all, "")
	again := backgrounds()[:2]
	again[0].Status.Calls, again[0].Status.Uptime = 1300, hook.Milliseconds(time.Hour) // not a change
	again[1].Status.NextStart = hook.Milliseconds(time.Second)
	show(again, "") // the countdown to a start is not a change, either
	again[1].State, again[1].Status.State, again[1].Status.PID = hook.StateReady, hook.StateReady, 4800
	show(again, "03:04:05  resize  ready  pid 4800\n")
	show(again[1:], "03:04:05  greeter  stopped\n")
	show(again[1:], "")
	show(nil, "03:04:05  resize  stopped\n")
	show(nil, "")
}

// TestStatusNote checks that the note of a plugin is shown, and that its change is reported.
func TestStatusNote(t *testing.T) {
	s, out, _ := testStreams("")
	s.Now = clock
	noted := backgrounds()[:1]
	noted[0].Status.Note = "greeter.py does not start"
	if err := s.Statuses(noted, false); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasSuffix(got, "  greeter.py does not start\n") || !strings.Contains(got, "  NOTE\n") {
		t.Errorf("got\n%s", got)
	}
	out.Reset()
	if err := s.Statuses(noted, true); err != nil || !strings.Contains(out.String(), `"note":"greeter.py does not start",`) {
		t.Errorf("got %s, %v", out, err)
	}
	w := s.WatchStatuses(false)
	for _, step := range []struct {
		shown []Background
		want  string
	}{
		{backgrounds()[:1], "greeter  ready  pid 4711\n"},
		{noted, "greeter  ready  pid 4711  greeter.py does not start\n"},
		{noted, ""},
	} {
		out.Reset()
		if err := w.Show(step.shown); err != nil || !strings.HasSuffix(out.String(), step.want) || step.want == "" && out.Len() > 0 {
			t.Errorf("got %q, want %q, %v", out, step.want, err)
		}
	}
}

// TestStatusReason checks that a plugin that is not ready says why, in the table and in JSON.
func TestStatusReason(t *testing.T) {
	b := Background{State: hook.StateDegraded, Status: &hook.Status{State: hook.StateDegraded, Reason: "no database"}}
	if got := new(Streams).note(b); got != "no database" {
		t.Errorf("the note is %q", got)
	}
	s, out, _ := testStreams("")
	if err := s.Statuses([]Background{b}, true); err != nil || !strings.Contains(out.String(), `"state":"degraded","reason":"no database"`) {
		t.Errorf("got %s, %v", out, err)
	}
}

// TestStatusNoteOfBackoff checks that a plugin that does not start says why, and when it tries
// again.
func TestStatusNoteOfBackoff(t *testing.T) {
	st := hook.Status{State: hook.StateBackoff, NextStart: hook.Milliseconds(2200 * time.Millisecond), LastExit: &hook.Exit{Signal: "SIGKILL"}}
	for note, want := range map[string]string{
		"": "restarting in 2.2s; exited: SIGKILL", "it does not start: no room": "restarting in 2.2s; it does not start: no room",
	} {
		st.Note = note
		if got := new(Streams).note(Background{Status: &st}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
