package proc

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestParseUsage(t *testing.T) {
	const stat = "7 (a) 1 (b) S 1 42 3 4 5 6 7 8 9 10 100 50 20 10 20 0 1 0 11 22 3 18446744073709551615"
	u, ok := parseUsage([]byte(stat))
	want := usage{group: 42, own: 1500 * time.Millisecond, reaped: 300 * time.Millisecond, rss: 3 * int64(os.Getpagesize())}
	if !ok || u != want {
		t.Errorf("got %+v, %v, want %+v", u, ok, want)
	}
	for _, text := range []string{"", "7 (a", "7 (a) S 1"} {
		if _, ok := parseUsage([]byte(text)); ok {
			t.Errorf("%q: read", text)
		}
	}
	if _, ok := usageOf(os.Getpid()); !ok {
		t.Error("our own is not told")
	}
}

// grow takes a MB more every 5 ms.
const grow = `
import time
kept = []
while True:
    kept.append(b"x" * (1 << 20))
    print(len(kept), flush=True)
    time.sleep(0.005)
`

// TestMemoryLimit holds that who takes too much memory is killed, wherever in the
// tree it is, and that nothing of it is left.
func TestMemoryLimit(t *testing.T) {
	python := python(t)
	script := func(line string) Spec {
		s := shell(line)
		s.Env = Environ(os.Environ(), false, []string{"PYTHON=" + python, "GROW=" + grow})
		return s
	}
	tests := []struct {
		name string
		spec Spec
	}{
		{"itself", Spec{Path: python, Args: []string{"-c", grow}}},
		{"child", script(`"$PYTHON" -c "$GROW" & wait`)},
		{"child in a session of its own", script(`setsid "$PYTHON" -c "$GROW" & wait`)},
		{"orphan in a session of its own", script(`(setsid "$PYTHON" -c "$GROW" &); sleep 60`)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			clean(t)
			out := newLines()
			test.spec.OnLine, test.spec.Limits.Memory = out.add, 64<<20
			e := start(t, test.spec).Exit()
			if e.Signal != "SIGKILL" || !strings.HasPrefix(e.Limit, "memory limit of 64 MB: it used ") {
				t.Errorf("got %+v", e)
			}
			if e.Stopped || e.Step != "" || e.OutOfMemory {
				t.Errorf("told as asked for, or as the system's doing: %+v", e)
			}
			all := out.list()
			if last, _ := strconv.Atoi(all[len(all)-1].Text); last < 40 || last > 200 {
				t.Errorf("killed at %d MB", last)
			}
		})
	}
}

// TestNoMemoryLimit holds that nothing is told of a process below its limit, nor of
// one that died otherwise.
func TestNoMemoryLimit(t *testing.T) {
	clean(t)
	s := shell("kill -9 $$")
	s.Limits.Memory = 64 << 20
	if e := start(t, s).Exit(); e.Signal != "SIGKILL" || e.Limit != "" {
		t.Errorf("got %+v", e)
	}
	s = shell("sleep 60")
	s.Limits = Limits{Memory: 64 << 20, CPU: 1}
	p := start(t, s)
	if e := p.Kill(); e.Limit != "" || !e.Stopped || e.Step != "SIGKILL" {
		t.Errorf("got %+v", e)
	}
}

// TestSharedMemory holds that memory which several processes share counts once, and
// that the cheap look says more rather than less.
func TestSharedMemory(t *testing.T) {
	clean(t)
	out := newLines()
	p := start(t, Spec{Path: python(t), OnLine: out.add, Args: []string{"-c", `
import os, time
kept = b"x" * (64 << 20)
for _ in range(4):
    if os.fork() == 0:
        time.sleep(60)
print("forked", flush=True)
time.sleep(60)
`}})
	out.find(t, "forked")
	most := p.tree.memoryAtMost()
	used, ok := Memory(p.PID())
	if !ok || used < 64<<20 || used > 160<<20 || most < 5*64<<20 {
		t.Errorf("it uses %s, at most %s", megabytes(used), megabytes(most))
	}
	p.Kill()
	if used, ok := Memory(p.PID()); ok {
		t.Errorf("it is gone and uses %s", megabytes(used))
	}
}

// TestCPULimit holds that 0.4 s of work take a fifth of a core their time: 2 s, less
// what is done in the first burst. A machine that is busy makes that longer only.
func TestCPULimit(t *testing.T) {
	clean(t)
	out := newLines()
	p := start(t, Spec{Path: python(t), OnLine: out.add, Limits: Limits{CPU: 0.2}, Args: []string{"-c", `
import time
began, worked = time.monotonic(), time.process_time()
while time.process_time() - worked < 0.4:
    pass
print("took", time.monotonic() - began)
`}})
	seconds, err := strconv.ParseFloat(out.find(t, "took"), 64)
	if err != nil || seconds < 1 {
		t.Errorf("it took %.2f s (%v)", seconds, err)
	}
	if e := p.Exit(); e.Code != 0 || e.Limit != "" {
		t.Errorf("got %+v", e)
	}
}

// stopped starts a Python that is busy and has next to no CPU, and waits until it is
// stopped. At a signal it prints that it got it, after 50 ms of work.
func stopped(t *testing.T) (*Process, *lines) {
	t.Helper()
	out := newLines()
	p := start(t, Spec{Path: python(t), OnLine: out.add, Limits: Limits{CPU: minCPU}, Args: []string{"-c", `
import os, signal, time
def work(number, frame):
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    print("got", number, flush=True)
    os._exit(7)
signal.signal(signal.SIGINT, work)
signal.signal(signal.SIGTERM, work)
print("busy", flush=True)
while True:
    pass
`}})
	out.find(t, "busy")
	eventually(t, "it is stopped", func() bool { return isStopped(p.PID()) })
	return p, out
}

func isStopped(pid int) bool {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	return bytes.HasPrefix(statusLine(status, "State:"), []byte("T"))
}

// TestStoppedIsInterrupted holds that who is stopped for its CPU limit runs free when
// it is interrupted.
func TestStoppedIsInterrupted(t *testing.T) {
	clean(t)
	p, out := stopped(t)
	p.Respite(time.Minute)
	p.throttle.stop(p.tree)
	if isStopped(p.PID()) {
		t.Error("it has a respite and is stopped")
	}
	p.throttle.mu.Lock()
	p.throttle.free = time.Time{}
	p.throttle.mu.Unlock()
	began := time.Now()
	if err := p.Interrupt(); err != nil {
		t.Fatal(err)
	}
	p.throttle.mu.Lock()
	if free := p.throttle.free; free.Before(began.Add(interruptTime)) {
		t.Errorf("it runs free for %v", free.Sub(began))
	}
	p.throttle.mu.Unlock()
	out.find(t, "got 2")
	if e := p.Exit(); e.Code != 7 || e.Stopped {
		t.Errorf("got %+v", e)
	}
}

// TestStoppedIsEnded holds that who is stopped for its CPU limit goes by the ladder as
// if it had none, and can be killed.
func TestStoppedIsEnded(t *testing.T) {
	t.Run("stop", func(t *testing.T) {
		clean(t)
		p, _ := stopped(t)
		if e := p.Stop(context.Background(), nil); e.Code != 7 || e.Step != "SIGTERM" {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("kill", func(t *testing.T) {
		clean(t)
		p, _ := stopped(t)
		if e := p.Kill(); e.Signal != "SIGKILL" {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("crash", func(t *testing.T) {
		clean(t)
		p, _ := stopped(t)
		if err := p.Crash(); err != nil {
			t.Fatal(err)
		}
		if e := p.Exit(); e.Signal != "SIGKILL" || e.Limit != "" {
			t.Errorf("got %+v", e)
		}
	})
}

// TestStoppedGroup holds that a stopped child does not outlive its parent.
func TestStoppedGroup(t *testing.T) {
	clean(t)
	out := newLines()
	s := shell(`sh -c 'while :; do :; done' & echo child $!; wait`)
	s.OnLine, s.Limits.CPU = out.add, minCPU
	p := start(t, s)
	child, err := strconv.Atoi(out.find(t, "child"))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child is stopped", func() bool { return isStopped(child) })
	if err := p.Crash(); err != nil {
		t.Fatal(err)
	}
	p.Exit()
	if _, err := os.Stat("/proc/" + strconv.Itoa(child)); err == nil {
		t.Error("the child is there")
	}
}

// BenchmarkLook is what one look at a process costs, which a limit makes ten times a
// second.
func BenchmarkLook(b *testing.B) {
	p := start(b, Spec{Path: python(b), Args: []string{"-c", "import time; time.sleep(60)"}})
	b.Run("cheap", func(b *testing.B) {
		for b.Loop() {
			p.tree.memoryAtMost()
		}
	})
	b.Run("exact", func(b *testing.B) {
		for b.Loop() {
			p.tree.memory()
		}
	})
	b.Run("cpu", func(b *testing.B) {
		for b.Loop() {
			p.tree.cpu()
		}
	})
}
