package proc

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/pyplug/pyplug/runner/proc/guard"
)

// Lacks says what this system cannot do of what the package promises.
func Lacks() string {
	return "on Windows a process gets no signals, so only closing its connection asks it to stop, and a killed pyplug leaves its temporary directory"
}

const (
	guardNeedsGroups = false
	endsBySignal     = false
	showsExiting     = false
	sweepTime        = 5 * time.Second
)

// StdoutAt is that of standard error: a process on Windows starts with no more than
// three descriptors.
const StdoutAt = 2

var resume = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// tree is one process and everything that it starts: a job, which the system ends when
// its last handle, ours, is closed.
type tree struct {
	pid     int
	process windows.Handle
	job     windows.Handle

	mu   sync.Mutex
	over bool // the handles are closed
}

// startTree starts the leader suspended, so that it is in the job before it can start
// anything.
func startTree(s Spec, child []*os.File) (*tree, error) {
	job, err := newJob()
	if err != nil {
		return nil, err
	}
	var fds []uintptr
	for _, c := range child {
		fds = append(fds, c.Fd())
	}
	env := append(append([]string(nil), s.Env...), guard.Tag+"="+running.run.Element(running.next()))
	pid, handle, err := syscall.StartProcess(s.Path, append([]string{s.Path}, s.Args...), &syscall.ProcAttr{
		Dir:   s.Dir,
		Env:   environ(env, false, nil, true),
		Files: fds,
		Sys:   &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED},
	})
	if err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	t := &tree{pid: pid, process: windows.Handle(handle), job: job}
	err = windows.AssignProcessToJobObject(job, t.process)
	if err == nil {
		if status, _, _ := resume.Call(handle); status != 0 {
			err = windows.NTStatus(status)
		}
	}
	if err != nil {
		windows.TerminateProcess(t.process, 1)
		windows.CloseHandle(t.process)
		windows.CloseHandle(job)
		return nil, err
	}
	return t, nil
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

func newPipe(childReads bool) (theirs, ours *os.File, err error) {
	r, w, err := os.Pipe()
	if childReads {
		return r, w, err
	}
	return w, r, err
}

func ownMemory() int64 { return 0 }

func reapOrphans() (stop func()) { return func() {} }

func (t *tree) interrupt() error { return errors.ErrUnsupported }
func (t *tree) signal(int) error { return errors.ErrUnsupported }
func (t *tree) catches(int) bool { return false }

// crash ends the leader; what it started lives on until cleanUp.
func (t *tree) crash() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return os.ErrProcessDone
	}
	return windows.TerminateProcess(t.process, 1)
}

// terminationSignal is none: Windows has no signals. The process has its grace period
// to notice that its connection is closed.
func (t *tree) terminationSignal() (syscall.Signal, string) { return 0, "closed" }

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

func (t *tree) awaitDeath() { windows.WaitForSingleObject(t.process, windows.INFINITE) }

// ending is how the leader ended.
type ending struct {
	code   int
	signal string
	maxRSS int64
	left   []string // unknown here
}

// cleanUp ends what the leader left in the job, and waits until the job is empty.
func (t *tree) cleanUp(context.Context) ending {
	t.kill()
	for end := time.Now().Add(sweepTime); t.active() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	defer windows.CloseHandle(t.job)
	defer windows.CloseHandle(t.process)
	var code uint32
	if windows.GetExitCodeProcess(t.process, &code) != nil {
		return ending{code: -1}
	}
	return ending{code: int(code)}
}

// active returns the number of living processes in the job.
func (t *tree) active() uint32 {
	var info struct {
		times                             [4]int64
		faults, total, active, terminated uint32
	}
	if windows.QueryInformationJobObject(t.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil) != nil {
		return 0
	}
	return info.active
}

// guardProcess is not needed: the system ends the jobs of a killed pyplug.
type guardProcess struct{}

func startGuard(guard.Run) *guardProcess    { return nil }
func (*guardProcess) alive() bool           { return false }
func (*guardProcess) send(string)           {}
func (*guardProcess) sendGroup(string, int) {}
func (*guardProcess) end()                  {}

// exiting reports that the process may have begun to exit.
func (*tree) exiting() bool { return true }

// StatusOf returns the exit code of a process that another package waited for. No signal ends
// a process on Windows.
func StatusOf(state *os.ProcessState) (code int, signal string) { return state.ExitCode(), "" }

func (p *outputPipe) readMarked(b []byte) (int, error) {
	n, err := p.File.Read(b)
	p.undelivered.Store(true)
	return n, err
}

// hasInput is false: the system does not tell.
func hasInput([]*outputPipe) bool { return false }
