package pyworker_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/wire"
)

// behaviour is the environment variable that makes this test binary a Python
// whose worker answers its first call as one of the answers below.
const behaviour = "PYWORKER_TEST_BEHAVIOUR"

func TestMain(m *testing.M) {
	switch name := os.Getenv(behaviour); name {
	case "":
	case lateOverlap:
		pretendLateOverlap()
		return
	default:
		pretend(badAnswers[name].say)
		return
	}
	os.Exit(m.Run())
}

// badAnswers are what a worker might say to call n, and what is told of it.
var badAnswers = map[string]struct {
	say  func(n uint32) []byte
	want string
}{
	"wrong id": {
		func(n uint32) []byte { return wire.Append(nil, wire.Result, n+7, []byte("1")) },
		"the worker's pipe: an answer for call 8, which is not running",
	},
	"half a frame": {
		func(n uint32) []byte { return wire.Append(nil, wire.Result, n, []byte(`"hello"`))[:12] },
		"the worker's pipe: the plugin closed it",
	},
	"a length of 1 GB": {
		func(n uint32) []byte { return claim(wire.Append(nil, wire.Result, n), 1<<30) },
		"the worker's pipe: impossible length in the frame header 00 00 00 40 52 01 00 00 00",
	},
	"400 MB that never come": {
		func(n uint32) []byte { return claim(wire.Append(nil, wire.Result, n), 400<<20) },
		"the worker's pipe: the plugin closed it",
	},
	"text": {
		func(uint32) []byte { return []byte("Loading the model ...\n") },
		"the worker's pipe: unknown frame type in the frame header 4c 6f 61 64 69 6e 67 20 74",
	},
	"a second hello": {
		func(uint32) []byte { return wire.Append(nil, wire.Hello, 0, []byte(`{"wire":1}`)) },
		"the worker's pipe: a second hello",
	},
	"a second ready": {
		func(uint32) []byte { return wire.Append(nil, wire.Ready, 0, []byte(`{"module":"fake"}`)) },
		"the worker's pipe: a second answer to load",
	},
	"pyplug's own frame": {
		func(n uint32) []byte { return wire.Append(nil, wire.Call, n, []byte("{}")) },
		"the worker's pipe: a frame of type C, which only pyplug sends",
	},
	"too many items": {
		func(n uint32) []byte {
			item := make([]byte, wire.Window/2+1)
			return wire.Append(wire.Append(nil, wire.Item, n, item), wire.Item, n, item)
		},
		"the worker's pipe: call 1 has more than 262144 bytes of items under way",
	},
}

// claim changes the length in a frame's header.
func claim(frame []byte, length uint32) []byte {
	binary.LittleEndian.PutUint32(frame, length)
	return frame
}

// pretend is such a Python, until its input ends. It closes its output after a
// frame that is not whole.
func pretend(say func(n uint32) []byte) {
	r := wire.NewReader(os.Stdin, 0)
	if _, err := r.Next(); err != nil {
		os.Exit(90)
	}
	hello := fmt.Sprintf(`{"wire":1,"python":"3.12.4","implementation":"cpython","pid":%d}`, os.Getpid())
	start := wire.Append(wire.Append(nil, wire.Hello, 0, []byte(hello)), wire.Ready, 0, []byte(`{"module":"fake"}`))
	if _, err := os.Stdout.Write(start); err != nil {
		os.Exit(91)
	}
	f, err := r.Next()
	if err != nil || f.Type != wire.Call {
		os.Exit(92)
	}
	answer := say(f.Call)
	if _, err := os.Stdout.Write(answer); err != nil {
		os.Exit(93)
	}
	whole := len(answer) - wire.HeaderSize - int(binary.LittleEndian.Uint32(answer))
	if whole < 0 {
		_ = os.Stdout.Close()
	}
	for err == nil { // until pyplug has had enough
		_, err = r.Next()
	}
	os.Exit(94)
}

// TestBadAnswers has a worker that does not keep to the protocol: the call is told
// what came, and the worker is gone, whatever else it would have done.
func TestBadAnswers(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range badAnswers {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			inst, err := pyworker.New(pyworker.Config{
				Python: path, Plugin: zoo(t, "greeter.py"),
				// The race detector would rest for a second at each exit.
				Env: proc.Environ(os.Environ(), false, []string{behaviour + "=" + name, "GORACE=atexit_sleep_ms=0"}),
			}).Launch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			_, err = inst.Call(ctx, hook.Call{Hook: "any", Emit: func(hook.Item) error {
				<-inst.Done() // no more is granted
				return nil
			}})
			if e := kind(t, err, hook.Crash); e.Error() != test.want || !e.Sent {
				t.Errorf("got %q, sent %v; want %q", e, e.Sent, test.want)
			}
			<-inst.Done()
			if _, err := inst.Call(t.Context(), hook.Call{Hook: "any"}); kind(t, err, hook.Unavailable).Sent {
				t.Error("a call to a worker that is gone counts as sent")
			}
		})
	}
}
