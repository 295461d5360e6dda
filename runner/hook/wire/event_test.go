package wire

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

func TestEvent(t *testing.T) {
	at := time.Date(2024, 1, 2, 3, 4, 5, 67_000_000, time.UTC)
	for _, c := range []struct {
		event hook.Event
		want  string
	}{
		{hook.Event{Time: at, Generation: 1, To: hook.StateStarting, Reason: "started"},
			`{"schema":1,"time":"2024-01-02T03:04:05.067Z","name":"greeter","generation":1,"to":"starting","reason":"started"}`},
		{hook.Event{Time: at, Worker: 2, Generation: 3, PID: 7, From: hook.StateReady, To: hook.StateBackoff, Reason: "it <ended>",
			Exit: &hook.Exit{Code: -1, Signal: "SIGSEGV", Uptime: time.Second}, Delay: hook.Milliseconds(1500 * time.Microsecond)},
			`{"schema":1,"time":"2024-01-02T03:04:05.067Z","name":"greeter","worker":2,"generation":3,"pid":7,"from":"ready","to":"backoff","reason":"it <ended>",` +
				`"exit":{"signal":"SIGSEGV","after_ms":1000},"delay_ms":1.5}`},
	} {
		got := Event("greeter", c.event)
		if string(got) != c.want || !json.Valid(got) {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}
