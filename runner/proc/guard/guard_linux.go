package guard

import (
	"os"
	"syscall"
	"unsafe"
)

// detach makes the guard survive signals for pyplug, and keeps it from holding a
// directory. It ignores the signals by the bare system call, since os/signal would
// have to be initialised first.
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

// killTagged kills all processes of the run, and reports whether there were any. A
// zombie has no environment and does not count.
func killTagged(run Run) (found bool) {
	dir, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid := number(name)
		if pid != 0 && contains(environ(name), run.Prefix()) && syscall.Kill(pid, syscall.SIGKILL) == nil {
			found = true
		}
	}
	return found
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
