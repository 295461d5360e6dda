package pyworker_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// behavior is the environment variable that makes this test binary a Python
// whose worker answers its first call with one of the answers below.
const behavior = "PYWORKER_TEST_BEHAVIOR"

func TestMain(m *testing.M) {
	name := os.Getenv(behavior)
	if name != "" { // use the worker's pipes
		var in, out uintptr
		if _, err := fmt.Sscan(os.Args[3], &in, &out); err != nil { // -c and its code come before
			panic(err)
		}
		os.Stdin, os.Stdout = os.NewFile(in, "in"), os.NewFile(out, "out")
	}
	switch name {
	case "":
	case lateOverlap:
		pretendLateOverlap()
		return
	case inParts:
		pretendInParts()
		return
	default:
		if say, ok := laterParts[name]; ok {
			pretendLaterParts(say.frames, say.lives)
			return
		}
		good, _ := strconv.Atoi(os.Getenv(behavior + "_AFTER"))
		pretend(uint32(good), badAnswers[name].say)
		return
	}
	os.Exit(m.Run())
}

// badAnswers are bad answers of a worker to call n, and the errors of that call. In an error,
// NUMBER is n, OTHER is n + 7, and BYTE is n in hexadecimal.
var badAnswers = map[string]struct {
	say   func(n uint32) []byte
	want  string
	later bool // whether it is also tested after good answers
}{
	"wrong id": {
		func(n uint32) []byte { return packed('R', n+7, "1") },
		"the worker's pipe: an answer for call OTHER, which is not running",
		true,
	},
	"half a frame": {
		func(n uint32) []byte { return packed('R', n, `"hello"`)[:12] },
		"the worker's pipe: the plugin closed it",
		true,
	},
	"a length of 1 GB": {
		func(n uint32) []byte { return claim(packed('R', n, ""), 1<<30) },
		"the worker's pipe: impossible length in the frame header 00 00 00 40 52 BYTE 00 00 00",
		true,
	},
	"400 MB that never come": {
		func(n uint32) []byte { return claim(packed('R', n, ""), 400<<20) },
		"the worker's pipe: the plugin closed it",
		false,
	},
	"text": {
		func(uint32) []byte { return []byte("Loading the model ...\n") },
		"the worker's pipe: unknown frame type in the frame header 4c 6f 61 64 69 6e 67 20 74",
		false,
	},
	"a second hello": {
		func(uint32) []byte { return packed('H', 0, `{}`) },
		"the worker's pipe: an unexpected frame of type H",
		false,
	},
	"a second ready": {
		func(uint32) []byte { return packed('Y', 0, `{"module":"fake"}`) },
		"the worker's pipe: an unexpected frame of type Y",
		false,
	},
	"a forged result": {
		func(n uint32) []byte { return packed('R', n, "1\n2") },
		"the worker's pipe: the result of call NUMBER is empty or holds a newline: the plugin wrote it, not the worker",
		false,
	},
	"a forged item": {
		func(n uint32) []byte { return packed('I', n, "1\n2") },
		"the worker's pipe: the result of call NUMBER is empty or holds a newline: the plugin wrote it, not the worker",
		false,
	},
	"pyplug's own frame": {
		func(n uint32) []byte { return packed('C', n, "{}") },
		"the worker's pipe: unknown frame type in the frame header 02 00 00 00 43 BYTE 00 00 00",
		false,
	},
	"too many items": {
		func(n uint32) []byte {
			item := strings.Repeat("0", pyworker.Window/2+1)
			return append(packed('I', n, item), packed('I', n, item)...)
		},
		"the worker's pipe: call NUMBER has more than 262144 bytes of items in flight",
		true,
	},
}

// packed returns a frame with a body.
func packed(kind byte, call uint32, body string) []byte {
	return pyworker.NewFrame(kind, call, []byte(body)...)
}

// readCommand reads a frame from pyplug and skips its body.
func readCommand(r *bufio.Reader) (kind byte, call uint32, err error) {
	var head [pyworker.HeaderSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, 0, err
	}
	_, err = r.Discard(int(binary.LittleEndian.Uint32(head[:])))
	return head[4], binary.LittleEndian.Uint32(head[5:]), err
}

// claim changes the length in a frame's header.
func claim(frame []byte, length uint32) []byte {
	binary.LittleEndian.PutUint32(frame, length)
	return frame
}

// pretend acts as the worker of a Python until its input ends. It gives the bad answer after a
// number of good ones. If the bad answer is an incomplete frame, it closes its output.
func pretend(good uint32, say func(n uint32) []byte) {
	r := bufio.NewReader(os.Stdin)
	if _, _, err := readCommand(r); err != nil {
		os.Exit(90)
	}
	hello := fmt.Sprintf(`{"python":"3.12.4","implementation":"cpython","pid":%d}`, os.Getpid())
	start := append(packed('H', 0, hello), packed('Y', 0, `{"module":"fake"}`)...)
	if _, err := os.Stdout.Write(start); err != nil {
		os.Exit(91)
	}
	kind, number, err := readCommand(r)
	for err == nil && kind == 'C' && number <= good {
		if _, err = os.Stdout.Write(packed('R', number, "1")); err == nil {
			kind, number, err = readCommand(r)
		}
	}
	if err != nil || kind != 'C' {
		os.Exit(92)
	}
	answer := say(number)
	if _, err := os.Stdout.Write(answer); err != nil {
		os.Exit(93)
	}
	whole := len(answer) - pyworker.HeaderSize - int(binary.LittleEndian.Uint32(answer))
	if whole < 0 {
		_ = os.Stdout.Close()
	}
	for err == nil { // until pyplug closes the pipe
		_, _, err = readCommand(r)
	}
	os.Exit(94)
}

// TestBadAnswers checks that a call reports an answer that violates the protocol, and that the
// worker is then gone.
func TestBadAnswers(t *testing.T) {
	runnertest.NothingLeft(t)
	for name, test := range badAnswers {
		for _, good := range []uint32{0, 50} {
			if good > 0 && !test.later {
				continue
			}
			t.Run(fmt.Sprintf("%s/after %d", name, good), func(t *testing.T) {
				t.Parallel() // because pyplug waits for an exit that does not come
				inst := launchFake(t, name, good)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				for range good {
					if _, err := inst.Call(ctx, hook.Call{Hook: "any"}); err != nil {
						t.Fatal(err)
					}
				}
				_, err := inst.Call(ctx, hook.Call{Hook: "any", Emit: func(hook.Item) error {
					<-inst.Done() // so that pyplug does not let the worker send more items
					return nil
				}})
				want := strings.NewReplacer("NUMBER", fmt.Sprint(good+1), "OTHER", fmt.Sprint(good+8), "BYTE", fmt.Sprintf("%02x", good+1)).Replace(test.want)
				if e := kind(t, err, hook.Crash); e.Error() != want || !e.Begun {
					t.Errorf("got %q, sent %v; want %q", e, e.Begun, want)
				}
				<-inst.Done()
				if _, err := inst.Call(t.Context(), hook.Call{Hook: "any"}); kind(t, err, hook.Unavailable).Begun {
					t.Error("a call to a worker that is gone counts as sent")
				}
			})
		}
	}
}

// launchFake starts this test binary as a Python that misbehaves after a number of good
// answers.
func launchFake(t *testing.T, name string, good uint32) hook.Instance {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	inst, err := pyworker.New(pyworker.Config{
		Python: path, Plugin: zoo(t, "greeter.py"),
		// Without GORACE, the race detector sleeps for a second at each exit.
		Env: proc.Environ(os.Environ(), false, []string{
			behavior + "=" + name, behavior + "_AFTER=" + fmt.Sprint(good), "GORACE=atexit_sleep_ms=0",
		}),
	}).Launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return inst
}
