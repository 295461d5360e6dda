package pyworker

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/runnertest"
)

func conformance(t testing.TB) *Launcher {
	t.Helper()
	plugin, err := filepath.Abs("../../testdata/plugins/conformance.py")
	if err != nil {
		t.Fatal(err)
	}
	return New(Config{Python: runnertest.Python(t), Plugin: plugin, Env: proc.Environ(os.Environ(), false, nil)})
}

// FuzzEcho checks that one live worker returns texts unchanged.
func FuzzEcho(f *testing.F) {
	for _, seed := range []string{"", "World", "ünï \x00 \u2028 😀", strings.Repeat("x", 70_000), `\"`, "\x1b[2J"} {
		f.Add(seed)
	}
	inst, err := conformance(f).Launch(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = inst.Stop(f.Context()) })
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?")
		args, err := json.Marshal([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		r, err := inst.Call(t.Context(), hook.Call{Hook: "echo", Args: hook.Args{JSON: args}})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var got string
		if err := json.Unmarshal(r.Value, &got); err != nil || got != text {
			t.Fatalf("%q came back as %q, %v", text, got, err)
		}
	})
}

// FuzzWorkerFrames sends arbitrary bytes to a worker. It checks that the worker exits, and that
// its answers, if any, are whole frames.
func FuzzWorkerFrames(f *testing.F) {
	call := newFrame(frameCall, 1, []byte(`{"hook":"echo","args":["x"]}`)...)
	f.Add(call)
	f.Add(call[:len(call)-1])
	f.Add(append(newFrame(frameCancel, 9), newFrame(frameCredit, 1, 1)...))
	f.Add(newFrame(frameCall, 1, []byte(`{"hook":["echo"],"args":{},"kwargs":[]}`)...))
	f.Add(newFrame(frameDescribe, 1, []byte("{\"hook\":\"nosuch\",\"input\":false}\xff")...))
	f.Add([]byte("\xff\xff\xff\xffC\x01\x00\x00\x00"))
	l := conformance(f)
	inst, err := l.Launch(f.Context()) // stores the byte code, so that no worker asks for the source
	if err != nil {
		f.Fatal(err)
	}
	_ = inst.Stop(f.Context())
	f.Cleanup(proc.Close)
	f.Fuzz(func(t *testing.T, frames []byte) {
		spec := l.spec()
		spec.Args = l.args("")
		p, err := proc.Start(spec)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Kill()
		overdue := time.AfterFunc(20*time.Second, func() { p.Kill() })
		defer overdue.Stop()
		go func() { // ends when the worker reads the frames or exits
			_, _ = p.Conn().Write(append(newFrame(frameLoad, 0, boot...), frames...))
			_ = p.Conn().CloseWrite()
		}()
		r := bufio.NewReader(p.Conn())
		for {
			if _, err = readFrame(r); err != nil {
				break
			}
		}
		if !errors.Is(err, io.EOF) {
			t.Fatalf("after %q: %v", frames, err)
		}
		if !overdue.Stop() {
			t.Fatalf("after %q the worker does not end", frames)
		}
	})
}
