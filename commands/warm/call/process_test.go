//go:build linux || darwin

package call

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/commands/warm/warmtest"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/wire"
)

// TestCallPrints holds that a plain result is printed and ends the program.
func TestCallPrints(t *testing.T) {
	runnertest.NothingLeft(t)
	for _, value := range []string{"5", `"Hällo\n"`, strings.Repeat("x", maxResult)} {
		d := fake(t, result(value))
		if got := warmtest.Run(t, d.env, "call", "p", "greet", "World"); got != (warmtest.Outcome{Stdout: value + "\n"}) {
			t.Errorf("%.40q: %d, %.40q, %s", value, got.Code, got.Stdout, got.Stderr)
		}
		if asked := d.take(); len(asked) != 1 || asked[0] != "greet|World" {
			t.Errorf("asked %q", asked)
		}
	}
}

// TestCallOdd holds that the ordinary way tells what is wrong with an answer, and
// does not ask again.
func TestCallOdd(t *testing.T) {
	runnertest.NothingLeft(t)
	for name, c := range map[string]struct {
		answer []byte
		code   int
	}{
		"another version": {wire.Append(nil, wire.Other, 0, []byte("v9")), 9},
		"garbage":         {[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), 9},
		"claims much":     {[]byte("\xff\xff\xff\xffR\x01\x00\x00\x00"), 9},
		"another call's":  {wire.Append(nil, wire.Result, 2, []byte("1")), 9},
		"half a header":   {result("1")[:5], 9},
		"half a result":   {result(`"Hello"`)[:12], 9},
		"closes":          {nil, 9},
		"lines":           {result("[1,\n2]"), 0},
		"more behind":     {join(result("1"), wire.Append(nil, wire.End, callNumber)), 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := fake(t, c.answer)
			d.mu.Lock()
			d.leave = true
			d.mu.Unlock()
			got := warmtest.Run(t, d.env, "call", "p", "greet")
			if got.Code != c.code || (got.Stderr == "") != (c.code == 0) || (got.Stdout == "") != (c.code != 0) {
				t.Errorf("%+v", got)
			}
			if asked := d.take(); len(asked) != 1 || asked[0] != "greet" {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

// start starts a call whose standard output is a pipe's, and returns the other
// end.
func start(t *testing.T, d *fakeDaemon) (p *os.Process, stdout *os.File, in *os.File) {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err = os.StartProcess(warmtest.Binary(t), []string{"pyplug", "call", "p", "greet"},
		&os.ProcAttr{Env: d.env, Files: []*os.File{nil, out, os.Stderr}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Kill() // it has ended, unless the test failed
		in.Close()
		out.Close()
	})
	return p, out, in
}

// receive waits for what a fake daemon notices.
func receive(t *testing.T, from <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-from:
	case <-time.After(20 * time.Second):
		t.Fatal("no sign of " + what)
	}
}

// ends waits for the end of a process, which is to be one of success.
func ends(t *testing.T, p *os.Process) {
	t.Helper()
	if state, err := p.Wait(); err != nil || !state.Success() {
		t.Errorf("%v, %v", state, err)
	}
}

// TestCallInterrupted holds that Ctrl-C ends a call that is waited for so that a
// shell sees 130, and with it the connection, which cancels the call.
func TestCallInterrupted(t *testing.T) {
	d := fake(t, []byte{})
	p, _, _ := start(t, d)
	receive(t, d.arrived, "the call")
	if err := p.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	state, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	// 130 where this machine was so slow that the ordinary way had begun.
	if status := state.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGINT && status.ExitStatus() != 130 {
		t.Errorf("%v", state)
	}
	receive(t, d.closed, "the end of the connection")
	if asked := d.take(); len(asked) != 1 {
		t.Errorf("asked %q", asked)
	}
}

// TestCallNotBlocking holds that a standard output which does not block is given
// all of a long result.
func TestCallNotBlocking(t *testing.T) {
	long := strings.Repeat("x", maxResult)
	d := fake(t, result(long))
	wait := make(chan struct{})
	d.mu.Lock()
	d.wait = wait
	d.mu.Unlock()
	p, stdout, in := start(t, d)
	receive(t, d.arrived, "the call")
	raw, err := stdout.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { err = syscall.SetNonblock(int(fd), true) }); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	close(wait)
	stdout.Close()
	got, err := io.ReadAll(in)
	if err != nil || string(got) != long+"\n" {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	ends(t, p)
}

// TestCallReaderLeaves holds that it is no error when nobody reads the rest.
func TestCallReaderLeaves(t *testing.T) {
	d := fake(t, result(strings.Repeat("x", maxResult)))
	p, stdout, in := start(t, d)
	stdout.Close()
	if _, err := io.ReadFull(in, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	in.Close()
	ends(t, p)
	if asked := d.take(); len(asked) != 1 {
		t.Errorf("asked %q", asked)
	}
}
