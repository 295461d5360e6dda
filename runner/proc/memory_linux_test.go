package proc

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// grow allocates 100 MB, one MB every 5 ms, and waits.
const grow = `
import time
kept = []
for _ in range(100):
    kept.append(b"x" * (1 << 20))
    print(len(kept), flush=True)
    time.sleep(0.005)
time.sleep(60)
`

// TestMemoryLimit checks that a tree is killed if any of its processes uses too much memory, and
// that nothing of it is left.
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
			test.spec.OnLine, test.spec.MaxMemory = out.add, 64<<20
			e := start(t, test.spec).Exit()
			if e.Signal != "SIGKILL" || !strings.HasPrefix(e.Limit, "memory limit of 64 MB: it used ") {
				t.Errorf("got %+v", e)
			}
			if e.Stopped || e.Step != "" || e.OutOfMemory {
				t.Errorf("told as asked for, or as the system's doing: %+v", e)
			}
			all := out.list()
			if last, _ := strconv.Atoi(all[len(all)-1].Text); last < 40 {
				t.Errorf("killed at %d MB", last)
			}
		})
	}
}

// TestNoMemoryLimit checks that no limit is reported for a process below its limit, or for one that
// died for another reason.
func TestNoMemoryLimit(t *testing.T) {
	clean(t)
	s := shell("kill -9 $$")
	s.MaxMemory = 64 << 20
	if e := start(t, s).Exit(); e.Signal != "SIGKILL" || e.Limit != "" {
		t.Errorf("got %+v", e)
	}
	s = shell("sleep 60")
	s.MaxMemory = 64 << 20
	p := start(t, s)
	if e := p.Kill(); e.Limit != "" || !e.Stopped || e.Step != "SIGKILL" {
		t.Errorf("got %+v", e)
	}
}

// TestSharedMemory checks that memory that several processes share counts once, and that the fast
// measurement never reports too little.
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
	used := Memory(p.PID())
	if used < 64<<20 || used > 160<<20 || most < 5*64<<20 {
		t.Errorf("it uses %s, at most %s", megabytes(used), megabytes(most))
	}
	p.Kill()
	if used := Memory(p.PID()); used > 0 {
		t.Errorf("it is gone and uses %s", megabytes(used))
	}
}

// BenchmarkLook measures one measurement of a process. A limit needs ten of these per second.
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
}
