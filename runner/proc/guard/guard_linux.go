package guard

import (
	"os"
	"syscall"
	"unsafe"
)

// detach makes the guard ignore the signals that pyplug may get, and leave the working
// directory. It uses the bare system call, because os/signal takes time to initialise.
func detach() {
	ignore := struct {
		handler, flags, restorer uintptr
		mask                     uint64
	}{handler: 1} // SIG_IGN
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&ignore)), 0, 8, 0, 0)
	}
	os.Chdir("/")
	os.WriteFile("/proc/self/comm", []byte(Name), 0)
}

// killTagged kills all processes of the run. It starts with the youngest: if processes fork
// and exit in a chain, only the youngest is alive. It stops all before it kills one, so that
// none can react to the death of another.
//
// It reports whether it found any, or may have missed one: a dying process has no
// environment any more, and may just have forked a child. seen lists the processes that were
// alive in an earlier pass, and do not count again.
func killTagged(run Run, seen map[string]bool) (found bool) {
	dir, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var stopped []int
	for i := len(names) - 1; i >= 0; i-- {
		pid := number(names[i])
		if pid == 0 {
			continue
		}
		switch env := environ(names[i]); {
		case contains(env, run.Prefix()):
			syscall.Kill(pid, syscall.SIGSTOP)
			stopped = append(stopped, pid)
		case !seen[names[i]]:
			seen[names[i]] = true
			found = found || len(env) == 0
		}
	}
	for _, pid := range stopped {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	return found || len(stopped) > 0
}

// environ reads the environment of a process with as few system calls as possible,
// or returns nil.
func environ(pid string) []byte {
	fd, err := syscall.Open("/proc/"+pid+"/environ", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	b := make([]byte, 0, 4096)
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := syscall.Read(fd, b[len(b):cap(b)])
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 {
			return b
		}
		b = b[:len(b)+n]
	}
}

func pause() {
	millisecond := syscall.Timespec{Nsec: 1e6}
	syscall.Nanosleep(&millisecond, nil)
}
