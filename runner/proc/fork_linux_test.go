package proc

import (
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// forker is a Python program that answers each request. The answer is a Python expression of word
// and rest. For a fork request it can fork a worker that runs another expression.
const forker = `
import array, os, socket, sys
answer, worker, control, *own = sys.argv[1:]
control = socket.socket(fileno=int(control))
IN, OUT = own = [int(number) for number in own]
first = int(open("/proc/self/stat").read().rpartition(")")[2].split()[47])
tag = first + open("/proc/self/environ").read().index("PYPLUG_RUN=") + 11
while True:
    message, more, _, _ = control.recvmsg(4096, socket.CMSG_SPACE(20))
    if not message:
        os._exit(0)
    word, _, rest = message.decode().partition(" ")
    rights = array.array("i", b"".join(data for _, _, data in more)).tolist()
    if word == "fork" and worker:
        pid = os.fork()
        if pid == 0:
            control.close()
            os.setpgid(0, 0)
            for number, own in zip(rights, (1, 2, *own, int(rest.split()[0]))):
                os.dup2(number, own)
                os.close(number)
            with open("/proc/self/mem", "r+b", 0) as memory:
                memory.seek(tag)
                memory.write(rest.split()[1].encode())
            os.read(IN, 1)
            exec(worker)
            os._exit(0)
        os.setpgid(pid, pid)
        told = "pid %d" % pid
    elif word == "reap" and worker:
        _, status = os.waitpid(int(rest), 0)
        told = eval(answer) if answer else "status %d" % status
    else:
        told = eval(answer)
    for number in rights:
        os.close(number)
    control.send(told.encode())
`

// forking starts a forker.
func forking(t *testing.T, answer, worker string) *Process {
	t.Helper()
	l := newLines()
	at := DescriptorsOf()
	args := []string{"-S", "-c", forker, answer, worker, strconv.Itoa(at.Control), strconv.Itoa(at.In), strconv.Itoa(at.Out)}
	p := start(t, Spec{Path: python(t), Args: args, Talk: true, Forks: true, OnLine: l.add})
	answersWithin(t, p, 30*time.Second) // on a busy machine Python may take long to start
	t.Cleanup(func() {
		for _, line := range l.list() {
			t.Log(line.Text)
		}
	})
	return p
}

// fork makes p fork a worker, and lets the worker run.
func fork(t *testing.T, p *Process, s Spec) *Process {
	t.Helper()
	w, err := p.Fork(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.forceStop(false)
		w.Kill()
	})
	if _, err := w.Conn().Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestForkExit(t *testing.T) {
	for source, want := range map[string]Exit{
		"os._exit(7)":            {Code: 7},
		"os.abort()":             {Code: -1, Signal: "SIGABRT"},
		"os.kill(os.getpid(),9)": {Code: -1, Signal: "SIGKILL"},
	} {
		t.Run(source, func(t *testing.T) {
			clean(t)
			p := forking(t, "", "os.write(OUT, b'out'); os.write(2, b'err\\n'); "+source)
			l := newLines()
			w := fork(t, p, Spec{OnLine: l.add})
			if out, err := io.ReadAll(w.Conn()); string(out) != "out" {
				t.Errorf("its output: %q, %v", out, err)
			}
			e := w.Exit()
			if e.Code != want.Code || e.Signal != want.Signal || e.Stopped || e.Uptime <= 0 {
				t.Errorf("got %+v, want %+v", e, want)
			}
			if len(e.Stderr) != 1 || e.Stderr[0] != "err" || l.find(t, "err") != "" {
				t.Errorf("standard error %q", e.Stderr)
			}
			w.Kill()
		})
	}
}

// TestForkStop checks that the ladder, signals and stacks affect only the worker.
func TestForkStop(t *testing.T) {
	clean(t)
	source := `
import faulthandler, signal, time
faulthandler.register(40, 2, chain=False)
signal.signal(signal.SIGINT, lambda *_: os.write(OUT, b"i"))
signal.signal(signal.SIGTERM, lambda *_: None)
os.write(OUT, b"r")
while True:
    time.sleep(0.01) # a signal that comes just before a sleep is seen after it
`
	p := forking(t, "", source)
	w, other := fork(t, p, Spec{StackSignal: 40, Grace: 50 * time.Millisecond}), fork(t, p, Spec{})
	next := func(of *Process) string {
		var b [1]byte
		n, _ := of.Conn().Read(b[:])
		return string(b[:n])
	}
	if next(w) != "r" || next(other) != "r" {
		t.Fatal("they do not run")
	}
	if err := w.Interrupt(); err != nil || next(w) != "i" {
		t.Errorf("interrupt: %v", err)
	}
	e := w.Stop(t.Context(), nil)
	if e.Step != "SIGKILL" || e.Signal != "SIGKILL" || !e.Stopped || len(e.Stacks) == 0 {
		t.Errorf("got %+v", e)
	}
	if err := w.Interrupt(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("interrupt of one that is gone: %v", err)
	}
	if err := other.Interrupt(); err != nil || next(other) != "i" {
		t.Errorf("the other: %v", err)
	}
}

// TestForkOrphans checks that workers end normally when the forking process is killed.
func TestForkOrphans(t *testing.T) {
	clean(t)
	p := forking(t, "", "os.read(IN, 1); os._exit(7)")
	w, dead := fork(t, p, Spec{}), fork(t, p, Spec{})
	if err := p.Crash(); err != nil {
		t.Fatal(err)
	}
	if err := dead.Crash(); err != nil {
		t.Fatal(err)
	}
	if e := dead.Exit(); e.Signal != "SIGKILL" {
		t.Errorf("one that died with it: %+v", e)
	}
	p.Exit()
	if _, err := p.Fork(Spec{}); err != ErrNoFork {
		t.Errorf("one more: %v", err)
	}
	if _, err := w.Conn().Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if e := w.Exit(); e.Code != 7 {
		t.Errorf("one that outlived it: %+v", e)
	}
	dead.Kill()
	w.Kill()
}

func TestForkRefused(t *testing.T) {
	clean(t)
	p := forking(t, "'errno 11'", "")
	for range 2 {
		if _, err := p.Fork(Spec{}); !errors.Is(err, syscall.EAGAIN) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := start(t, shell("read x")).Fork(Spec{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("one that was not started for it: %v", err)
	}
}

// TestForkFaults checks that a process with a wrong answer is killed, with everything that it may
// have forked.
func TestForkFaults(t *testing.T) {
	for name, answer := range map[string]string{
		"other words": "'hello'", "no number": "'pid x'", "pid 1": "'pid 1'", "nobody's pid": "'pid 999999999'", "empty": "''",
		"its end": "os._exit(3)", "silence": "__import__('time').sleep(1000)",
		"unknown child": "(os.fork() or __import__('time').sleep(1000)) and 'what'",
	} {
		t.Run(name, func(t *testing.T) {
			clean(t)
			p := forking(t, answer, "")
			if name == "silence" {
				answersWithin(t, p, 50*time.Millisecond)
			}
			if w, err := p.Fork(Spec{}); err != ErrNoFork {
				t.Errorf("got %v, %v", w, err)
			}
			p.Exit()
		})
	}
}

// answersWithin changes the timeout of answers.
func answersWithin(t *testing.T, p *Process, d time.Duration) {
	t.Helper()
	p.control.mu.Lock()
	defer p.control.mu.Unlock()
	p.control.limit = d
}

// TestForkStatusLost checks that a worker whose status is lost still counts as ended: pyplug does
// not use or wait for its number. A signal during that time does not wait for the answer.
func TestForkStatusLost(t *testing.T) {
	for name, answer := range map[string]string{
		"its end": "os._exit(3)", "silence": "__import__('time').sleep(1000)", "other words": "'hello'",
	} {
		t.Run(name, func(t *testing.T) {
			clean(t)
			p := forking(t, answer, "os.read(IN, 1)")
			w, other := fork(t, p, Spec{}), fork(t, p, Spec{})
			const limit = 2 * time.Second
			answersWithin(t, p, limit)
			if err := w.Crash(); err != nil {
				t.Fatal(err)
			}
			for over := false; !over; {
				began := time.Now()
				err := w.Interrupt()
				if took := time.Since(began); took > limit/2 {
					t.Errorf("to interrupt it took %s", took)
				}
				over = errors.Is(err, os.ErrProcessDone)
			}
			if e := w.Exit(); e.Code != -1 || e.Signal != "" {
				t.Errorf("got %+v", e)
			}
			if name != "other words" {
				p.Exit()
			}
			if err := other.Interrupt(); err != nil {
				t.Errorf("the other: %v", err)
			}
		})
	}
}

// TestForkWhileItDies checks that the processes that a forking process leaves are not swept before
// its worker is registered.
func TestForkWhileItDies(t *testing.T) {
	clean(t)
	p := forking(t, "", "os.read(IN, 1); os._exit(7)")
	running.starting.RLock()
	w, err := p.Fork(Spec{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Crash(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
		t.Error("it was swept")
	case <-time.After(100 * time.Millisecond):
	}
	running.starting.RUnlock()
	p.Exit()
	if err := w.Crash(); err != nil {
		t.Fatal(err)
	}
	if e := w.Exit(); e.Signal != "SIGKILL" {
		t.Errorf("got %+v", e)
	}
	w.Kill()
}

// TestForkMemory checks that the memory of forked workers does not count for the forking process.
func TestForkMemory(t *testing.T) {
	clean(t)
	p := forking(t, "", "data = bytearray(b'x') * (60 << 20); os.write(OUT, b'r'); os.read(IN, 1)")
	w := fork(t, p, Spec{})
	if _, err := w.Conn().Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if own := Memory(p.PID()); own == 0 || own > 40<<20 {
		t.Errorf("the forking process: %d", own)
	}
	if own := Memory(w.PID()); own < 50<<20 {
		t.Errorf("the worker: %d", own)
	}
}
