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
	return "on Windows a process gets no signals, so only closing its connection asks it to stop; what is printed before a plugin is imported breaks its start; and a killed pyplug leaves its temporary directory"
}

const (
	guardNeedsGroups = false
	endsBySignal     = false
	showsExiting     = false
)

// DescriptorsOf returns the descriptors in processes that this system starts. A Windows process
// starts with at most three. So the protocol uses those of standard input and output, and output
// printed before the process moves them mixes with the protocol.
func DescriptorsOf() Descriptors { return Descriptors{In: 0, Out: 1, Stdout: 2} }

// tree is one process and everything that it starts: a job, which the system ends when its last
// handle, which pyplug has, is closed.
type tree struct {
	pid     int
	process *os.Process
	state   *os.ProcessState // set after its death
	job     windows.Handle

	mu   sync.Mutex
	over bool // the job is closed
}

// startTree starts the leader in its own job.
func startTree(s Spec, child []*os.File) (*tree, error) {
	if s.Talk {
		child = []*os.File{child[3], child[4], child[2]}
	}
	job, err := newJob()
	if err != nil {
		return nil, err
	}
	process, err := os.StartProcess(s.Path, append([]string{s.Path}, s.Args...), &os.ProcAttr{
		Dir: s.Dir, Env: s.Env, Files: child,
		Sys: &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP},
	})
	if err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	var failed error
	err = process.WithHandle(func(handle uintptr) {
		failed = windows.AssignProcessToJobObject(job, windows.Handle(handle))
	})
	if err = errors.Join(err, failed); err != nil {
		process.Kill()
		process.Release()
		windows.CloseHandle(job)
		return nil, err
	}
	return &tree{pid: process.Pid, process: process, job: job}, nil
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

// urgent is not a real signal, because Windows has none.
const urgent = syscall.Signal(-1)

// signal supports only SIGKILL, which ends the leader. Its descendants live until cleanUp.
func (t *tree) signal(s syscall.Signal) error {
	if s != syscall.SIGKILL {
		return errors.ErrUnsupported
	}
	return t.process.Kill()
}

// terminationSignal returns no signal, because Windows has none. The process has its grace period
// to detect that its connection is closed.
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
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	windows.CloseHandle(t.job)
	return ending{code: t.state.ExitCode()} // -1 if the code is unknown
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
