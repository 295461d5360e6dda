package proc

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// named waits until processes run the program with a name, and returns their descriptions in Left.
func named(t *testing.T, name string, pids ...string) (left []string) {
	t.Helper()
	for _, pid := range pids {
		eventually(t, pid+" is "+name, func() bool {
			comm, _ := os.ReadFile("/proc/" + pid + "/comm")
			return string(comm) == name+"\n"
		})
		left = append(left, name+" (pid "+pid+")")
	}
	return left
}

// talker starts a script that reads a line at its end, and waits until it prints ready.
func talker(t *testing.T, script string) (*Process, *lines) {
	t.Helper()
	l := newLines()
	s := talking("exec 1>&2\n" + script + "\necho ready; read line")
	s.OnLine = l.add
	p := start(t, s)
	l.find(t, "ready")
	return p, l
}

// bid asks a talker over its connection to exit, so that the rest of its group gets no signal.
func bid(t *testing.T, p *Process) Exit {
	t.Helper()
	e := p.Stop(t.Context(), func(context.Context) bool { io.WriteString(p.Conn(), "go\n"); return true })
	if e.Step != "asked" {
		t.Errorf("ended by %q, want asked", e.Step)
	}
	return e
}

func wantLeft(t *testing.T, e Exit, want ...string) {
	t.Helper()
	if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(e.Left)), want) {
		t.Errorf("left %q, want %q", e.Left, want)
	}
}

func TestLeft(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		clean(t)
		p, _ := talker(t, "")
		wantLeft(t, bid(t, p))
	})
	t.Run("in the group", func(t *testing.T) {
		clean(t)
		p, l := talker(t, "sleep 1000 & echo child $!")
		want := named(t, "sleep", l.find(t, "child "))
		wantLeft(t, bid(t, p), want...)
	})
	t.Run("below a child", func(t *testing.T) {
		clean(t)
		p, l := talker(t, "(sleep 1000 & echo grandchild $!; wait) & echo child $!")
		want := named(t, "sleep", l.find(t, "grandchild "))
		want = append(want, named(t, "sh", l.find(t, "child "))...)
		wantLeft(t, bid(t, p), want...)
	})
	t.Run("a crowd", func(t *testing.T) {
		clean(t)
		p, _ := talker(t, "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 1000 & done")
		if e := bid(t, p); len(e.Left) != maxLeftovers {
			t.Errorf("%d are told, want %d: %q", len(e.Left), maxLeftovers, e.Left)
		}
	})
	t.Run("after a crash", func(t *testing.T) {
		clean(t)
		p, l := talker(t, "sleep 1000 & echo child $!")
		want := named(t, "sleep", l.find(t, "child "))
		p.tree.signal(9)
		e := p.Exit()
		wantLeft(t, e, want...)
		if e.Step != "" || e.Stopped {
			t.Errorf("stopped %v by %q, want by itself", e.Stopped, e.Step)
		}
	})
}

// TestLeftEscaped checks that Left contains a process that left the group, whether its parent is
// alive or not.
func TestLeftEscaped(t *testing.T) {
	path, _ := os.Executable()
	name := filepath.Base(path)
	name = name[:min(len(name), 15)] // the system keeps only 15 bytes
	for _, args := range [][]string{{"stay"}, {"go"}, {"stay", "bare"}, {"go", "bare"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			clean(t)
			l := newLines()
			s := child(t, "escape", args...)
			s.OnLine = l.add
			p := start(t, s)
			pid := l.find(t, "grandchild ")
			step := ""
			if args[0] == "stay" {
				p.Stop(t.Context(), nil)
				step = "SIGTERM"
			}
			e := p.Exit()
			wantLeft(t, e, name+" (pid "+pid+")")
			if e.Step != step {
				t.Errorf("ended by %q, want %q", e.Step, step)
			}
		})
	}
}

// TestLeftKilledAlong checks that processes ended by pyplug's own signals do not count as left
// behind.
func TestLeftKilledAlong(t *testing.T) {
	for step, stop := range map[string]func(*Process) Exit{
		"SIGTERM": func(p *Process) Exit { return p.Stop(t.Context(), nil) },
		"SIGKILL": (*Process).Kill,
	} {
		t.Run(step, func(t *testing.T) {
			clean(t)
			l := newLines()
			s := shell("for i in 1 2 3 4 5; do sleep 1000 & echo child $!; done; trap 'exit 3' TERM; echo ready; wait")
			s.OnLine = l.add
			p := start(t, s)
			l.find(t, "ready")
			named(t, "sleep", rests(l, "child ")...)
			e := stop(p)
			wantLeft(t, e)
			if e.Step != step {
				t.Errorf("ended by %q, want %q", e.Step, step)
			}
		})
	}
}

// TestLeftZombie checks that a child that was already dead does not count as left behind.
func TestLeftZombie(t *testing.T) {
	clean(t)
	l := newLines()
	s := child(t, "unreaped")
	s.OnLine = l.add
	p := start(t, s)
	pid, _ := strconv.Atoi(l.find(t, "child "))
	eventually(t, "the child is a zombie", func() bool { return !alive(pid) })
	wantLeft(t, p.Stop(t.Context(), nil))
}

// TestLeftGoesByItself checks that a helper that ends after its parent does not count as left
// behind. It makes several attempts, because a machine may be too busy for the helper to end in
// time.
func TestLeftGoesByItself(t *testing.T) {
	clean(t)
	fifo := filepath.Join(t.TempDir(), "fifo")
	var e Exit
	for range 10 {
		p, _ := talker(t, fmt.Sprintf("rm -f %[1]s; mkfifo %[1]s; (cat %[1]s; sleep 0.01) & exec 3>%[1]s", fifo))
		if e = bid(t, p); len(e.Left) == 0 {
			return
		}
	}
	t.Errorf("left %q, want nothing", e.Left)
}
