package pyworker

import (
	"strings"
	"testing"
)

// TestStackFrames checks that stackFrames omits the worker's own frames, and the frames of the
// event loop that runs the plugin, but keeps the frames that the plugin calls.
func TestStackFrames(t *testing.T) {
	const dump = `Current thread 0x00007f (most recent call first):
  File "/lib/python3.11/asyncio/runners.py", line 3 in run
  File "/home/me/plug.py", line 50 in deaf
  File "<pyplug worker>", line 200 in call
  File "/lib/python3.11/asyncio/events.py", line 80 in _run
  File "/lib/python3.11/asyncio/base_events.py", line 607 in run_forever
  File "<pyplug event_loop>", line 60 in serve`
	var functions []string
	for _, f := range stackFrames(strings.Split(dump, "\n")) {
		functions = append(functions, f.Function)
	}
	if got := strings.Join(functions, " "); got != "deaf run" {
		t.Errorf("got the frames of %s, want those of deaf and run", got)
	}
	if got := stackFrames(strings.Split(strings.ReplaceAll(dump, "/home/me/plug.py", "/lib/asyncio/events.py"), "\n")); len(got) == 0 {
		t.Error("of a stack without the user's frames nothing is left")
	}
}

// TestErrorWithoutException checks the message of an answer without an exception.
func TestErrorWithoutException(t *testing.T) {
	inst := &instance{launcher: New(Config{})}
	for body, want := range map[string]string{
		`{"reason":"raised"}`: `the worker's error has the reason "raised" and no exception`,
		`{"reason":"raised","python":{"type":"ValueError","message":"a"}}`:               "ValueError: a",
		`{"reason":"raised","missing":"a","python":{"type":"ImportError","message":""}}`: "ImportError",
	} {
		if e := inst.answerError("greet", frame{kind: frameError, call: 1, body: []byte(body)}); e.Error() != want {
			t.Errorf("%s: got %q, want %q", body, e, want)
		}
	}
}
