package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// behavior is the environment variable that makes this test binary one of the children.
const behavior = "PROC_TEST_BEHAVIOR"

var behaviors = map[string]func(){
	"echo": func() { // echoes a line when the event is set
		in, out, event := connection()
		fmt.Println("hello")
		fmt.Fprintln(os.Stderr, "oh")
		line, _ := bufio.NewReader(in).ReadString('\n')
		windows.WaitForSingleObject(event, windows.INFINITE)
		fmt.Fprint(out, "echo ", line)
		io.Copy(io.Discard, in)
	},
	"launcher": func() { // starts a child at once, as the python.exe of a virtual environment does
		os.Setenv(behavior, "hang")
		cmd := exec.Command(os.Args[0])
		cmd.Stdout = os.Stdout
		cmd.Run()
	},
	"hang": func() {
		fmt.Println("here", os.Getpid())
		in, out, _ := os.Pipe() // not select{}, which Go treats as a deadlock
		in.Read(make([]byte, 1))
		out.Close()
	},
}

// connection returns the handles of a process that talks.
func connection() (in, out *os.File, event windows.Handle) {
	var handles [5]uintptr
	if _, err := fmt.Sscan(os.Args[1], &handles[0], &handles[1], &handles[2], &handles[3], &handles[4]); err != nil {
		panic(err)
	}
	return os.NewFile(handles[0], "in"), os.NewFile(handles[1], "out"), windows.Handle(handles[4])
}

func TestMain(m *testing.M) {
	if do, ok := behaviors[os.Getenv(behavior)]; ok {
		do()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// startChild starts this binary with a behavior, and returns it with the lines that it prints.
func startChild(t *testing.T, name string, talk bool, args ...string) (*Process, <-chan Line) {
	t.Helper()
	lines := make(chan Line, 100)
	p, err := Start(Spec{
		Path: executable(t), Args: args, Talk: talk, Grace: time.Hour, OnLine: func(l Line) { lines <- l },
		Env: Environ(os.Environ(), false, []string{behavior + "=" + name}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill() })
	return p, lines
}

func executable(t *testing.T) string {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestHandles checks that a process with Talk can use its handles and the two standard streams.
func TestHandles(t *testing.T) {
	p, lines := startChild(t, "echo", true, DescriptorsArg)
	seen := map[Stream]string{}
	for range 2 {
		line := <-lines
		seen[line.Stream] = line.Text
	}
	if seen[Stdout] != "hello" || seen[Stderr] != "oh" {
		t.Errorf("printed %v", seen)
	}
	if _, err := io.WriteString(p.Conn(), "one\n"); err != nil {
		t.Fatal(err)
	}
	if err := p.Interrupt(); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, len("echo one\n"))
	if _, err := io.ReadFull(p.Conn(), answer); err != nil || string(answer) != "echo one\n" {
		t.Errorf("answer %q, %v", answer, err)
	}
	if exit := p.Stop(t.Context(), nil); exit.Step != "closed" || exit.Code != 0 {
		t.Errorf("%+v, want an exit by the end of its connection", exit)
	}
	if err := p.Interrupt(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("interrupt after the end: %v", err)
	}
	if err := p.Crash(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("crash after the end: %v", err)
	}
}

// TestNoStep checks that Stop kills a process at once if nothing can ask it to exit.
func TestNoStep(t *testing.T) {
	p, lines := startChild(t, "hang", false)
	<-lines
	if err := p.Interrupt(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("interrupt: %v", err)
	}
	exit := p.Stop(t.Context(), func(context.Context) bool { return false })
	if exit.Step != "SIGKILL" {
		t.Errorf("%+v, want a kill without a grace period", exit)
	}
}

// TestLauncher checks that Kill also ends a child that the process started in its first moment.
func TestLauncher(t *testing.T) {
	for range 5 {
		p, lines := startChild(t, "launcher", false)
		var pid uint32
		if line := <-lines; !strings.HasPrefix(line.Text, "here ") {
			t.Fatalf("printed %q", line.Text)
		} else if _, err := fmt.Sscan(line.Text[len("here "):], &pid); err != nil {
			t.Fatal(err)
		}
		child, err := windows.OpenProcess(windows.SYNCHRONIZE, false, pid)
		if err != nil {
			t.Fatal(err)
		}
		p.Kill()
		if event, err := windows.WaitForSingleObject(child, 10_000); event != windows.WAIT_OBJECT_0 {
			t.Errorf("the child lives on: %d, %v", event, err)
		}
		windows.CloseHandle(child)
	}
}
