package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/pyplug/pyplug/runner/hook"
)

// around describes what a daemon has inherited.
type around struct {
	PID     int
	Window  bool // it has a console with a window
	Out     string
	Environ []string
}

func surroundings() around {
	window, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetConsoleWindow").Call()
	a := around{PID: os.Getpid(), Window: windows.IsWindowVisible(windows.HWND(window)), Environ: os.Environ()}
	if out, err := windows.GetStdHandle(windows.STD_ERROR_HANDLE); err == nil {
		path := make([]uint16, windows.MAX_PATH)
		if n, err := windows.GetFinalPathNameByHandle(out, &path[0], uint32(len(path)), 0); err == nil {
			a.Out = windows.UTF16ToString(path[:n])
		}
	}
	return a
}

// gone waits until a process has exited.
func gone(t *testing.T, pid int) {
	t.Helper()
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return
	}
	defer func() { _ = windows.CloseHandle(process) }()
	if event, err := windows.WaitForSingleObject(process, 10_000); event != windows.WAIT_OBJECT_0 {
		t.Errorf("process %d still runs: %d, %v", pid, event, err)
	}
}

// TestSpawn checks that a daemon inherits the environment, has no window and writes to its log.
func TestSpawn(t *testing.T) {
	needSockets(t)
	dir := nothingLeft(t)
	id, err := Spawn(context.Background(), []string{"__daemon", "good"}, append(os.Environ(), "MARK=1"), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	r, err := open(t).Call(context.Background(), hook.Call{Hook: "about"})
	if err != nil {
		t.Fatal(err)
	}
	var a around
	if err := json.Unmarshal(r.Value, &a); err != nil {
		t.Fatal(err)
	}
	if a.PID != id.PID || a.Window || !slices.Contains(a.Environ, "MARK=1") || !strings.HasSuffix(a.Out, filepath.Base(filepath.Dir(dir))+`\pyplug\p.log`) {
		t.Errorf("got %+v of %d", a, id.PID)
	}
	if _, err := Stop(context.Background(), "p", StopOptions{}); err != nil {
		t.Error(err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
	gone(t, id.PID)
}

// TestSpawnCanceled checks that a daemon whose start is canceled is asked to stop, and leaves
// nothing.
func TestSpawnCanceled(t *testing.T) {
	needSockets(t)
	dir := nothingLeft(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	_, err := Spawn(ctx, []string{"__daemon", "hangs"}, nil, func(string) { cancel(errors.New("enough")) })
	if kindOf(t, err) != hook.Canceled {
		t.Errorf("got %v", err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
	if run, ok := LastRun("p"); !ok || run.Crashed {
		t.Errorf("the last run is %+v, %v", run, ok)
	}
}

// startInJob starts a daemon by a process in a job, and returns the notes of the start.
func startInJob(t *testing.T, job windows.Handle) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "__daemon", "starter")
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	begin, err := cmd.StdinPipe() // the process starts the daemon when this pipe is closed
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	err = cmd.Process.WithHandle(func(process uintptr) { failed = windows.AssignProcessToJobObject(job, windows.Handle(process)) })
	if err := errors.Join(err, failed, begin.Close(), cmd.Wait()); err != nil {
		t.Fatalf("%v: %s", err, &output)
	}
	return output.String()
}

// TestSpawnInJob checks that a daemon leaves the job of its starter, or that a warning says that it
// cannot.
func TestSpawnInJob(t *testing.T) {
	needSockets(t)
	for name, limits := range map[string]uint32{
		"may leave": windows.JOB_OBJECT_LIMIT_BREAKAWAY_OK, "leaves": windows.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK, "stays": 0,
	} {
		t.Run(name, func(t *testing.T) {
			nothingLeft(t)
			job, err := windows.CreateJobObject(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = windows.CloseHandle(job) }()
			var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
			info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | limits
			if _, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
				t.Fatal(err)
			}
			said := startInJob(t, job)
			if warned := strings.Contains(said, "will end together"); warned != (limits == 0) {
				t.Errorf("the start says %q", said)
			}
			pid := open(t).Identity().PID
			if err := windows.TerminateJobObject(job, 1); err != nil {
				t.Fatal(err)
			}
			if limits == 0 {
				gone(t, pid)
			} else if _, err := open(t).Status(context.Background()); err != nil {
				t.Error(err)
			}
			if _, err := Stop(context.Background(), "p", StopOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNoSockets checks that without Unix sockets a start says so, a daemon serves over TCP alone,
// and no file is left.
func TestNoSockets(t *testing.T) {
	if hasSockets() {
		t.Skip("there are Unix sockets here")
	}
	dir := nothingLeft(t)
	id := Identity{Name: "p", Entry: `C:\x\p.py`}
	if s, err := Listen(id, Options{}); err == nil {
		s.Fail(errors.New("enough"))
		t.Error("it has a socket")
	} else if kindOf(t, err) != hook.Unavailable || !strings.Contains(hook.Words(hook.AsError(err).Hints)[0], "pyplug serve --listen") {
		t.Errorf("got %v, %v", err, hook.AsError(err).Hints)
	}
	s, err := Listen(id, Options{Access: openTCP(t)})
	if err != nil {
		t.Fatal(err)
	}
	if s.Identity().Socket != "" || s.Identity().PID != os.Getpid() {
		t.Errorf("it is %+v", s.Identity())
	}
	if all, err := List(ctx0); len(all) > 0 || err != nil {
		t.Errorf("listed %v, %v", all, err)
	}
	s.Fail(errors.New("enough"))
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}
