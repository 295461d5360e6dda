package proc

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Lacks returns the promises of this package that the system cannot keep.
func Lacks() string {
	return "on Windows a process gets no signals, so pyplug kills one that has no connection and cannot be asked to stop; a killed pyplug leaves its temporary directory; there are no memory limits and no preload"
}

const (
	guardNeedsGroups = false
	showsExiting     = false

	// HasSignals reports whether a process can be asked to exit by a signal, and an exit names the
	// signal that caused it.
	HasSignals = false
)

// DescriptorsOf returns no descriptors, because each process has its own handles.
func DescriptorsOf() Descriptors { return Descriptors{} }

// tree is one process and everything that it starts, in a job. The system ends the job when its
// last handle is closed. Only pyplug has a handle.
type tree struct {
	pid     int
	process *os.Process
	state   *os.ProcessState // set after its death
	job     windows.Handle
	event   windows.Handle // the event that the process waits for, or 0 if it does not talk

	mu   sync.Mutex
	over bool // job and event are closed
}

// startTree starts the leader in a job of its own. The leader is suspended until it is in the
// job, because the launcher of a virtual environment starts Python at once, which would escape.
func startTree(s Spec, child []*os.File) (_ *tree, err error) {
	t := &tree{}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	if t.job, err = newJob(); err != nil {
		return nil, err
	}
	sys := &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED | window()}
	var at Descriptors
	if s.Talk {
		if t.event, err = newEvent(); err != nil {
			return nil, err
		}
		at = Descriptors{In: int(child[3].Fd()), Out: int(child[4].Fd()), Stdout: 1, Event: int(t.event)}
		for _, handle := range []int{at.In, at.Out, at.Event} {
			if err = inherit(windows.Handle(handle)); err != nil {
				return nil, err
			}
			sys.AdditionalInheritedHandles = append(sys.AdditionalInheritedHandles, syscall.Handle(handle))
		}
	}
	t.process, err = os.StartProcess(s.Path, s.argv(at), &os.ProcAttr{Dir: s.Dir, Env: s.Env, Files: child[:3], Sys: sys})
	if err != nil {
		return nil, err
	}
	t.pid = t.process.Pid
	var failed error
	err = t.process.WithHandle(func(handle uintptr) {
		if failed = windows.AssignProcessToJobObject(t.job, windows.Handle(handle)); failed == nil {
			failed = resume(handle)
		}
	})
	if err = errors.Join(err, failed); err != nil {
		t.process.Kill()
		t.process.Release()
		return nil, err
	}
	return t, nil
}

// window returns CREATE_NO_WINDOW if pyplug has no console, because the system would then open one
// in a window for each console program.
func window() uint32 {
	if page, err := windows.GetConsoleCP(); err != nil || page == 0 {
		return windows.CREATE_NO_WINDOW
	}
	return 0
}

func newEvent() (windows.Handle, error) {
	event, err := windows.CreateEvent(nil, 0, 0, nil)
	return event, os.NewSyscallError("CreateEvent", err)
}

// inherit lets a child inherit a handle, if the handle is listed at its start.
func inherit(handle windows.Handle) error {
	return os.NewSyscallError("SetHandleInformation", windows.SetHandleInformation(handle, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT))
}

var resumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// resume lets a suspended process run. ResumeThread would need the thread, which is not known.
func resume(process uintptr) error {
	if status, _, _ := resumeProcess.Call(process); status != 0 {
		return os.NewSyscallError("NtResumeProcess", windows.NTStatus(status))
	}
	return nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, os.NewSyscallError("CreateJobObject", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, os.NewSyscallError("SetInformationJobObject", err)
	}
	return job, nil
}

func reapOrphans() (stop func()) { return func() {} }

func (t *tree) catches(int) bool { return false }

// urgent is the signal of [Process.Urge].
const urgent = syscall.SIGINT

// signal supports two signals. SIGKILL ends the leader, and its descendants live until cleanUp.
// SIGINT sets the event, and the process then raises the signal itself.
func (t *tree) signal(s syscall.Signal) error {
	if s == syscall.SIGKILL {
		err := t.process.Kill()
		if errors.Is(err, syscall.EINVAL) { // Wait has released the process
			return os.ErrProcessDone
		}
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.over:
		return os.ErrProcessDone
	case t.event == 0:
		return errors.ErrUnsupported
	}
	return os.NewSyscallError("SetEvent", windows.SetEvent(t.event))
}

// terminationSignal returns no signal, because Windows has none.
func (t *tree) terminationSignal() (syscall.Signal, string) { return 0, "" }

// terminate does nothing.
func (t *tree) terminate(syscall.Signal) {}

// kill ends the job, unless it is closed.
func (t *tree) kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		windows.TerminateJobObject(t.job, 1)
	}
}

func (t *tree) awaitDeath() { t.state, _ = t.process.Wait() }

// ending describes how the leader ended.
type ending struct {
	code   int
	signal string
	left   []string // unknown on Windows
}

// cleanUp ends the processes that the leader left in the job.
func (t *tree) cleanUp(context.Context) ending {
	t.kill()
	t.close()
	return ending{code: t.state.ExitCode()} // -1 if the code is unknown
}

// close closes the handles.
func (t *tree) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for _, handle := range []windows.Handle{t.job, t.event} {
		if handle != 0 {
			windows.CloseHandle(handle)
		}
	}
}

// guardProcess is not needed, because the system ends the jobs of a killed pyplug.
type guardProcess struct{}

func startGuard(string) *guardProcess       { return nil }
func (*guardProcess) alive() bool           { return false }
func (*guardProcess) send(string)           {}
func (*guardProcess) sendGroup(string, int) {}
func (*guardProcess) end()                  {}

// exiting returns true, because the process may have begun to exit.
func (*tree) exiting() bool { return true }

// StatusOf returns the exit code of a process that another package has waited for. On Windows no
// signal ends a process.
func StatusOf(state *os.ProcessState) (code int, signal string) { return state.ExitCode(), "" }

func (p *outputPipe) readMarked(b []byte) (int, error) {
	n, err := p.File.Read(b)
	p.undelivered.Store(true)
	return n, err
}

// hasInput returns false, because Windows does not report whether a pipe has input.
func hasInput([]*outputPipe) bool { return false }
