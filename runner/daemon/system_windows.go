package daemon

import (
	"context"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	// noFollow makes opening a link open the link itself.
	noFollow = windows.O_FILE_FLAG_OPEN_REPARSE_POINT
	// noSockets is the error of a system without Unix sockets.
	noSockets = windows.WSAEAFNOSUPPORT
)

// openFile opens a file that others can rename or remove while it is open. [os.Root] allows that,
// [os.OpenFile] does not.
func openFile(path string, flag int) (*os.File, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return root.OpenFile(filepath.Base(path), flag, 0o600)
}

// checkPeer accepts every connection: the access list of the socket, which it inherits from its
// directory, rejects other users.
func checkPeer(*net.UnixConn) error { return nil }

// terminate sends a stop request to a daemon. If that fails, it kills the process.
func terminate(p *os.Process) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	live, _ := List(ctx)
	for _, id := range live {
		c := &Client{place: place{filepath.Dir(string(id.Socket)), id.Name}, id: id}
		if id.PID == p.Pid && c.ask(ctx, "POST", "/stop", url.Values{"now": {"1"}}, nil) == nil {
			return nil
		}
	}
	return p.Kill()
}

// redirect makes a file the standard output and standard error of this process. The file receives
// panics, too: the Go runtime looks up the handle of standard error at each write.
func redirect(f *os.File) error {
	self := windows.CurrentProcess()
	for std, to := range map[uint32]**os.File{windows.STD_OUTPUT_HANDLE: &os.Stdout, windows.STD_ERROR_HANDLE: &os.Stderr} {
		var handle windows.Handle
		err := windows.DuplicateHandle(self, windows.Handle(f.Fd()), self, &handle, 0, false, windows.DUPLICATE_SAME_ACCESS)
		if err == nil {
			err = windows.SetStdHandle(std, handle)
		}
		if err != nil {
			return &os.PathError{Op: "dup", Path: f.Name(), Err: err}
		}
		_ = (*to).Close()
		*to = os.NewFile(uintptr(handle), f.Name())
	}
	return nil
}

// detach makes a command start with its own console, without a window, and outside of the job of
// this process, such as that of a CI runner. The command inherits the pipe as its standard input
// and writes to it. The warning says that the system will end the command together with the job.
func detach(cmd *exec.Cmd, pipe *os.File) (warning string) {
	cmd.Stdin = pipe
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP}
	var job windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	err := windows.QueryInformationJobObject(0, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&job)), uint32(unsafe.Sizeof(job)), nil)
	switch limits := job.BasicLimitInformation.LimitFlags; {
	case err != nil: // this process is in no job
	case limits&windows.JOB_OBJECT_LIMIT_BREAKAWAY_OK != 0:
		cmd.SysProcAttr.CreationFlags |= windows.CREATE_BREAKAWAY_FROM_JOB
	case limits&windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE != 0 && limits&windows.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK == 0:
		return "the plugin will end together with the program that started pyplug: its Windows job lets no process leave"
	}
	return ""
}

// inheritedPipe returns the pipe of [detach], or nil if standard input is not a pipe.
func inheritedPipe() *os.File {
	if kind, err := windows.GetFileType(windows.Handle(os.Stdin.Fd())); err != nil || kind != windows.FILE_TYPE_PIPE {
		return nil
	}
	return os.Stdin
}

// watch opens a process. exited closes it and, if wait is set, first waits until the process has
// exited, for at most stopLimit.
func watch(pid int) (exited func(wait bool)) {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return func(bool) {} // the process has exited
	}
	return func(wait bool) {
		if wait {
			_, _ = windows.WaitForSingleObject(process, uint32(stopLimit.Milliseconds()))
		}
		_ = windows.CloseHandle(process)
	}
}
