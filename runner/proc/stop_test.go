//go:build linux || darwin

package proc

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestStop(t *testing.T) {
	clean(t)
	tests := []struct {
		name string
		spec Spec
		want Exit
	}{
		{"catches both", child(t, "polite"), Exit{Code: 3, Step: "SIGTERM"}},
		{"catches TERM", shell("trap 'exit 3' TERM; echo ready; while :; do sleep 0.02; done"), Exit{Code: 3, Step: "SIGTERM"}},
		{"catches INT", shell("trap 'exit 4' INT; echo ready; while :; do sleep 0.02; done"), Exit{Code: 4, Step: "SIGINT"}},
		{"catches neither", Spec{Path: "/bin/sleep", Args: []string{"1000"}}, Exit{Code: -1, Signal: "SIGTERM", Step: "SIGTERM"}},
		{"ignores both", child(t, "stubborn"), Exit{Code: -1, Signal: "SIGKILL", Step: "SIGKILL"}},
		{"is stopped", shell("trap 'exit 3' TERM; (until ps -o stat= -p $$ | grep -q T; do sleep 0.02; done; echo ready) & kill -STOP $$; while :; do sleep 0.02; done"), Exit{Code: 3, Step: "SIGTERM"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := newLines()
			test.spec.OnLine, test.spec.Grace = l.add, 300*time.Millisecond
			if test.want.Signal != "SIGKILL" {
				test.spec.Grace = 20 * time.Second
			}
			p := start(t, test.spec)
			if test.spec.Path != "/bin/sleep" {
				l.find(t, "ready")
			}
			e := p.Stop(t.Context(), nil)
			test.want.Stopped = true
			if e.Code != test.want.Code || e.Signal != test.want.Signal || !e.Stopped || e.OutOfMemory || e.Step != test.want.Step {
				t.Errorf("got %+v, want %+v", e, test.want)
			}
			if again := p.Stop(t.Context(), nil); !equal(again, e) {
				t.Errorf("second stop: %+v", again)
			}
		})
	}
}

func TestStopConcurrently(t *testing.T) {
	clean(t)
	l := newLines()
	s := child(t, "polite")
	s.OnLine = l.add
	p := start(t, s)
	l.find(t, "ready")
	var asked, stopping sync.WaitGroup
	asked.Add(1)
	for range 8 {
		stopping.Go(func() {
			if e := p.Stop(t.Context(), func(context.Context) bool { asked.Done(); return true }); e.Code != 3 {
				t.Errorf("%+v", e)
			}
		})
	}
	stopping.Wait()
	asked.Wait()
	if err := p.Interrupt(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("interrupt after the end: %v", err)
	}
}

// TestStopLate checks that a process that has begun to exit by itself does not count as stopped.
func TestStopLate(t *testing.T) {
	clean(t)
	if !showsExiting {
		t.Skip("the system does not tell whether a process exits")
	}
	for range 20 {
		p := start(t, shell("exit 3"))
		for !p.Exiting() {
			runtime.Gosched()
		}
		if e := p.Stop(t.Context(), func(context.Context) bool { return true }); e.Code != 3 || e.Stopped || e.Step != "" {
			t.Fatalf("%+v", e)
		}
	}
}

func TestStopByWord(t *testing.T) {
	clean(t)
	s := child(t, "leave", DescriptorsArg)
	s.Talk = true
	p := start(t, s)
	e := p.Stop(t.Context(), func(context.Context) bool { io.WriteString(p.Conn(), "go\n"); return true })
	if e.Code != 6 || e.Signal != "" || !e.Stopped || e.Step != "asked" {
		t.Errorf("%+v", e)
	}
}

// TestKillStacks checks that the stacks of a killed process show what it was doing, not its
// reaction to the end of its connection.
func TestKillStacks(t *testing.T) {
	clean(t)
	l := newLines()
	source := `import faulthandler, os, signal, sys, threading, time
faulthandler.register(signal.SIGUSR2, all_threads=True)
def hang():
    print("ready", file=sys.stderr, flush=True)
    while True: time.sleep(100)
def leave(): os._exit(7)
threading.Thread(target=hang, daemon=True).start()
os.read(int(sys.argv[1]), 1)
leave()
`
	p := start(t, Spec{
		Path: python(t), Args: []string{"-c", source, strconv.Itoa(DescriptorsOf().In)}, Talk: true,
		StackSignal: int(syscall.SIGUSR2), OnLine: l.add,
	})
	l.find(t, "ready")
	e := p.Kill()
	if e.Step != "SIGKILL" || e.Signal != "SIGKILL" || !strings.Contains(strings.Join(e.Stacks, "\n"), "in hang") {
		t.Errorf("%+v", e)
	}
}

// TestStopAskHangs checks that an ask that does not return delays the ladder for at most a second.
func TestStopAskHangs(t *testing.T) {
	clean(t)
	l := newLines()
	s := child(t, "polite")
	s.OnLine = l.add
	p := start(t, s)
	l.find(t, "ready")
	ended := make(chan error, 1)
	e := p.Stop(t.Context(), func(ctx context.Context) bool { <-ctx.Done(); ended <- ctx.Err(); return true })
	if e.Code != 3 || e.Step != "SIGTERM" {
		t.Errorf("%+v", e)
	}
	if err := <-ended; err == nil {
		t.Error("the ask's context did not end")
	}
}

func TestStopCancelled(t *testing.T) {
	clean(t)
	l := newLines()
	s := child(t, "stubborn")
	s.OnLine, s.Grace = l.add, time.Hour
	p := start(t, s)
	l.find(t, "ready")
	ctx, cancel := context.WithCancel(t.Context())
	e := p.Stop(ctx, func(context.Context) bool { cancel(); return true })
	if e.Signal != "SIGKILL" || !e.Stopped || e.Step != "SIGKILL" {
		t.Errorf("%+v", e)
	}
}

func TestKillOvertakes(t *testing.T) {
	clean(t)
	l := newLines()
	s := child(t, "stubborn")
	s.OnLine, s.Grace = l.add, time.Hour
	p := start(t, s)
	l.find(t, "ready")
	asked := make(chan struct{})
	var stopping sync.WaitGroup
	stopping.Go(func() { p.Stop(t.Context(), func(context.Context) bool { close(asked); return true }) })
	<-asked
	if e := p.Kill(); e.Signal != "SIGKILL" || e.Step != "SIGKILL" {
		t.Errorf("%+v", e)
	}
	stopping.Wait()
}

func TestInterrupt(t *testing.T) {
	clean(t)
	l := newLines()
	s := child(t, "polite")
	s.OnLine = l.add
	p := start(t, s)
	l.find(t, "ready")
	if err := p.Interrupt(); err != nil {
		t.Fatal(err)
	}
	if e := p.Exit(); e.Code != 4 || e.Stopped || e.Step != "" {
		t.Errorf("%+v", e)
	}
}

// hanging is a Python program that hangs, handles the stack signal, and prints "before" on SIGTERM.
const hanging = `import faulthandler, signal, sys, time
faulthandler.register(signal.SIGUSR2, all_threads=True)
signal.signal(signal.SIGTERM, lambda *a: print("before", file=sys.stderr, flush=True))
def hang():
    print("ready", flush=True)
    while True: time.sleep(100)
hang()
`

func TestStacks(t *testing.T) {
	tests := []struct {
		name   string
		signal int
		stop   func(p *Process) Exit
		stacks bool
		stderr string
	}{
		{"stop", int(syscall.SIGUSR2), func(p *Process) Exit { return p.Stop(t.Context(), nil) }, true, "before"},
		{"kill", int(syscall.SIGUSR2), (*Process).Kill, true, ""},
		{"no signal", 0, (*Process).Kill, false, ""},
		{"not caught", int(syscall.SIGUSR1), (*Process).Kill, false, ""},
		{"cancelled", int(syscall.SIGUSR2), func(p *Process) Exit {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return p.Stop(ctx, nil)
		}, false, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			clean(t)
			l := newLines()
			p := start(t, Spec{
				Path: python(t), Args: []string{"-c", hanging},
				StackSignal: test.signal, Grace: time.Second, OnLine: l.add,
			})
			l.find(t, "ready")
			e := test.stop(p)
			if e.Signal != "SIGKILL" || !e.Stopped || strings.Join(e.Stderr, "\n") != test.stderr {
				t.Errorf("%+v", e)
			}
			stacks := strings.Join(e.Stacks, "\n")
			if test.stacks != strings.Contains(stacks, ` in hang`) || test.stacks != strings.Contains(stacks, "Current thread 0x") {
				t.Errorf("stacks %q", stacks)
			}
		})
	}
}
