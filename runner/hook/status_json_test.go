package hook

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// TestStatusJSON checks that the JSON of a status and an event keeps all fields.
func TestStatusJSON(t *testing.T) {
	exit := &Exit{Code: 3, Uptime: 1500 * time.Millisecond, Stderr: []string{"no"}}
	at := time.Date(2026, 1, 31, 12, 0, 0, 5000, time.UTC)
	status := Status{
		State: StateBackoff, Reason: "it ended", Generation: 2, PID: 4711, Workers: 2, Ready: 1, Concurrency: 8, Since: at,
		Uptime: Milliseconds(12500 * time.Microsecond), Restarts: 1, Calls: 5, Failed: 2, Running: 1, Queued: 3, Note: "n", LastExit: exit,
		NextStart: Milliseconds(time.Second), Memory: 12, Attach: json.RawMessage(`{"name":"p"}`),
	}
	event := Event{Time: at, Worker: 2, Generation: 3, PID: 7, From: StateReady, To: StateBackoff, Reason: "r", Exit: exit, Delay: Milliseconds(2 * time.Second)}
	for _, value := range []any{status, Status{}, event, Event{To: StateReady}} {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		back := reflect.New(reflect.TypeOf(value))
		if err := json.Unmarshal(text, back.Interface()); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := back.Elem().Interface(); !reflect.DeepEqual(got, value) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", text, got, value)
		}
	}
}
