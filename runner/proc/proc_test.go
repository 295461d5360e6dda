//go:build linux || darwin

package proc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestExit(t *testing.T) {
	clean(t)
	tests := []struct {
		spec Spec
		want Exit
	}{
		{child(t, "exit", "0"), Exit{}},
		{child(t, "exit", "7"), Exit{Code: 7}},
		{child(t, "exit", "255"), Exit{Code: 255}},
		{shell("kill -SEGV $$"), Exit{Code: -1, Signal: "SIGSEGV"}},
		{shell("kill -ABRT $$"), Exit{Code: -1, Signal: "SIGABRT"}},
		{shell("kill -KILL $$"), Exit{Code: -1, Signal: "SIGKILL"}},
		{shell("echo one >&2; printf two >&2; exit 1"), Exit{Code: 1, Stderr: []string{"one", "two"}}},
	}
	for _, test := range tests {
		got := start(t, test.spec).Exit()
		if got.Uptime <= 0 || got.Uptime > patience {
			t.Errorf("%v: uptime %v", test.spec.Args, got.Uptime)
		}
		got.Uptime = 0
		if !equal(got, test.want) {
			t.Errorf("%v: got %+v, want %+v", test.spec.Args, got, test.want)
		}
	}
}

func equal(a, b Exit) bool {
	return a.Code == b.Code && a.Signal == b.Signal && a.OutOfMemory == b.OutOfMemory && a.Stopped == b.Stopped && a.Step == b.Step &&
		strings.Join(a.Left, "\n") == strings.Join(b.Left, "\n") &&
		strings.Join(a.Stderr, "\n") == strings.Join(b.Stderr, "\n") && strings.Join(a.Stacks, "\n") == strings.Join(b.Stacks, "\n")
}

func TestTail(t *testing.T) {
	clean(t)
	e := start(t, shell("i=0; while [ $i -lt 50 ]; do echo $i >&2; i=$((i+1)); done")).Exit()
	if len(e.Stderr) != 20 || e.Stderr[0] != "30" || e.Stderr[19] != "49" {
		t.Errorf("got %q", e.Stderr)
	}
}

func TestStartError(t *testing.T) {
	clean(t)
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := file("plain", "text", 0o644)
	tests := []struct {
		spec Spec
		want string
	}{
		{Spec{Path: "sh"}, "the path is relative, expected an absolute one"},
		{Spec{Path: dir + "/none"}, "no such file or directory"},
		{Spec{Path: plain}, "permission denied"},
		{Spec{Path: file("garbage", "text", 0o755)}, `neither a program for this machine nor a script that begins with "#!"`},
		{Spec{Path: file("script", "#!/no/python -u\n", 0o755)}, `its first line names "/no/python", which does not exist`},
		{Spec{Path: "/bin/sh", Dir: dir + "/none"}, "the working directory " + dir + "/none does not exist"},
		{Spec{Path: "/bin/sh", Dir: plain}, "the working directory " + plain + " is not a directory"},
	}
	for _, test := range tests {
		p, err := Start(test.spec)
		if want := "cannot start " + test.spec.Path + ": " + test.want; err == nil || err.Error() != want || p != nil {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestLines(t *testing.T) {
	clean(t)
	l := newLines()
	s := shell(`printf 'a\r\nb\377\n'; head -c 200000 /dev/zero | tr '\0' x; printf '\nend'`)
	s.OnLine = l.add
	start(t, s).Exit()
	want := []Line{
		{Stdout, "a", 0}, {Stdout, "b\xff", 0},
		{Stdout, strings.Repeat("x", maxLine), 200000 - maxLine}, {Stdout, "end", 0},
	}
	got := l.list()
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d: got %.40q, cut %d", i, got[i].Text, got[i].Cut)
		}
	}
}

func TestSerialised(t *testing.T) {
	clean(t)
	s := shell("for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done")
	inside, count := make(chan struct{}, 1), map[Stream]int{}
	s.OnLine = func(l Line) {
		select {
		case inside <- struct{}{}:
		default:
			t.Error("two lines at once")
		}
		count[l.Stream]++
		if want := strings.TrimPrefix(string(l.Stream), "std") + " " + strconv.Itoa(count[l.Stream]); l.Text != want {
			t.Errorf("%v: got %q, want %q", l.Stream, l.Text, want)
		}
		<-inside
	}
	start(t, s).Exit()
	if count[Stdout] != 9 || count[Stderr] != 9 {
		t.Errorf("%v lines", count)
	}
}

func TestFlood(t *testing.T) {
	clean(t)
	size := 1 << 30
	if raceEnabled || testing.Short() {
		size = 128 << 20
	}
	for _, width := range []int{0, 64} {
		lines, bytes := 0, 0
		s := child(t, "flood", strconv.Itoa(size), strconv.Itoa(width))
		s.OnLine = func(l Line) { lines++; bytes += len(l.Text) + l.Cut }
		began := time.Now()
		e := start(t, s).Exit()
		t.Logf("%d MB in lines of %d: %v", size>>20, width, time.Since(began))
		wantLines, wantBytes := 1, size
		if width > 0 {
			wantLines, wantBytes = size/width, size-size/width
		}
		if e.Code != 0 || lines != wantLines || bytes != wantBytes {
			t.Errorf("%d lines, %d bytes, want %d, %d; %+v", lines, bytes, wantLines, wantBytes, e)
		}
	}
}

func TestStdinIsNotOurs(t *testing.T) {
	clean(t)
	l := newLines()
	s := child(t, "stdin")
	s.OnLine = l.add
	start(t, s)
	if got := l.find(t, "stdin "); got != `"" <nil>` {
		t.Errorf("got %s", got)
	}
}

func TestTalk(t *testing.T) {
	clean(t)
	p := start(t, func() Spec { s := child(t, "echo", DescriptorsArg); s.Talk = true; return s }())
	size := 64 << 20
	if raceEnabled || testing.Short() {
		size = 16 << 20
	}
	sent := make([]byte, size)
	random := rand.NewChaCha8([32]byte{1})
	random.Read(sent)
	var writing sync.WaitGroup
	writing.Go(func() {
		if _, err := p.Conn().Write(sent); err != nil {
			t.Error(err)
		}
		p.Conn().CloseWrite()
	})
	got, err := io.ReadAll(p.Conn())
	writing.Wait()
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes came back of %d, %v", len(got), len(sent), err)
	}
	if e := p.Exit(); e.Code != 0 || e.Stopped {
		t.Errorf("%+v", e)
	}
	p.Conn().Close()
	if _, err := p.Conn().Read(got); !errors.Is(err, os.ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
}

// TestTalkLate checks that data written before a process died can be read much later.
func TestTalkLate(t *testing.T) {
	clean(t)
	p := start(t, talking("echo answer"))
	<-p.Done()
	got, err := io.ReadAll(p.Conn())
	if string(got) != "answer\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestHolder checks that the death of a process is detected even if a child in its group holds the
// streams, and that the child is killed, too.
func TestHolder(t *testing.T) {
	clean(t)
	l := newLines()
	s := child(t, "holder")
	s.OnLine = l.add
	began := time.Now()
	p := start(t, s)
	if e := p.Exit(); e.Code != 5 {
		t.Errorf("%+v", e)
	}
	t.Logf("%v", time.Since(began))
	pid, _ := strconv.Atoi(l.find(t, "child "))
	eventually(t, "the child is gone", func() bool { return syscall.Kill(pid, 0) != nil })
}

func TestClose(t *testing.T) {
	clean(t)
	l := newLines()
	s := child(t, "sleep")
	s.OnLine = l.add
	p := start(t, s)
	l.find(t, "ready")
	dir, err := TempDir(1000)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := TempDir(1000); again != dir || err != nil {
		t.Errorf("second time: %s, %v", again, err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	Close()
	select {
	case <-p.Done():
	default:
		t.Error("a process outlived Close")
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v", dir, err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	short, err := TempDir(0)
	if info, _ := os.Stat(short); err != nil || filepath.Dir(short) != "/tmp" || info.Mode().Perm() != 0o700 {
		t.Errorf("a shorter one: %s, %v, %v", short, info, err)
	}
	Close()
	if e := start(t, child(t, "exit", "3")).Exit(); e.Code != 3 {
		t.Errorf("after Close: %+v", e)
	}
}

func TestRun(t *testing.T) {
	clean(t)
	ended, end := context.WithCancel(t.Context())
	end()
	tests := []struct {
		name           string
		ctx            context.Context
		tool           Tool
		stdout, stderr string
		code           int
		is             error
		err            string
	}{
		{name: "both streams", tool: Tool{Args: []string{"-c", `printf 'a\r\nb'; printf c >&2; exit 3`}}, stdout: "a\r\nb", stderr: "c", code: 3},
		{name: "environment", tool: Tool{Args: []string{"-c", "printf $X"}, Env: []string{"X=1"}}, stdout: "1"},
		{name: "directory", tool: Tool{Args: []string{"-c", "pwd"}, Dir: "/"}, stdout: "/\n"},
		{name: "too long", tool: Tool{Args: []string{"-c", "echo 12345678"}, MaxOutput: 5}, stdout: "12345", err: "/bin/sh: wrote 9 bytes, expected at most 5"},
		{name: "long stderr", tool: Tool{Args: []string{"-c", "echo 12345678 >&2"}, MaxOutput: 5}, stderr: "12345"},
		{name: "too slow", tool: Tool{Args: []string{"-c", "echo a; sleep 100"}, Limit: 100 * time.Millisecond}, stdout: "a\n", code: -1, is: context.DeadlineExceeded, err: "/bin/sh: no end within 100ms: context deadline exceeded"},
		{name: "not wanted", ctx: ended, is: context.Canceled, err: "/bin/sh: not started: context canceled"},
		{name: "not there", tool: Tool{Path: "/no/tool"}, err: "cannot start /no/tool: no such file or directory"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.ctx == nil {
				test.ctx = t.Context()
			}
			if test.tool.Path == "" {
				test.tool.Path = "/bin/sh"
			}
			out, err := Run(test.ctx, test.tool)
			if string(out.Stdout) != test.stdout || string(out.Stderr) != test.stderr || out.Exit.Code != test.code {
				t.Errorf("got %q, %q, %+v", out.Stdout, out.Stderr, out.Exit)
			}
			if (err != nil) != (test.err != "") || err != nil && err.Error() != test.err || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got error %v, want %s", err, test.err)
			}
		})
	}
}
