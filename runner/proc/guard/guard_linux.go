package guard

import (
	"os"
	"syscall"
	"unsafe"
)

// blend makes the guard survive what is meant for pyplug, and keeps it from
// holding a directory. Signals are ignored by the bare system call, since
// os/signal would have to be initialised first.
func blend() {
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

// killMarked kills all processes of the run, and tells whether there were any.
// A zombie has nothing left to kill and does not count.
func killMarked(run Run) (found bool) {
	dir, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	self := os.Getpid()
	for _, name := range names {
		pid, ok := number(name)
		if !ok || int(pid) == self || !Marked(int(pid), run, 0) {
			continue
		}
		if syscall.Kill(int(pid), syscall.SIGKILL) == nil && !zombie(int(pid)) {
			found = true
		}
	}
	return found
}

// Marked tells whether process pid carries a mark of the run's n-th process,
// or with n = 0 of any process of the run.
func Marked(pid int, run Run, n uint32) bool {
	proc := "/proc/" + decimal(uint64(pid))
	if soft, ok := realTimeLimit(read(proc + "/limits")); ok && run.inLimit(soft, n) {
		return true
	}
	// The limit holds the outermost pyplug's mark alone, the tag all of them.
	return run.inEnviron(read(proc+"/environ"), n)
}

// realTimeLimit finds the soft limit in /proc/PID/limits.
func realTimeLimit(limits []byte) (uint64, bool) {
	const row = "Max realtime timeout"
	for len(limits) > 0 {
		line := limits
		if i := index(limits, '\n'); i >= 0 {
			line, limits = limits[:i], limits[i+1:]
		} else {
			limits = nil
		}
		if len(line) < len(row) || string(line[:len(row)]) != row {
			continue
		}
		line = line[len(row):]
		for len(line) > 0 && line[0] == ' ' {
			line = line[1:]
		}
		if i := index(line, ' '); i >= 0 {
			line = line[:i]
		}
		return number(string(line))
	}
	return 0, false
}

// zombie reads the state in /proc/PID/stat, which follows the last
// parenthesis; a process that is not there counts as one.
func zombie(pid int) bool {
	stat := read("/proc/" + decimal(uint64(pid)) + "/stat")
	for i := len(stat) - 1; i >= 0; i-- {
		if stat[i] == ')' {
			return i+2 >= len(stat) || stat[i+2] == 'Z' || stat[i+2] == 'X'
		}
	}
	return true
}

// read reads a file of /proc with as few system calls as can be; nil when it
// cannot. An environment is read whole, however long.
func read(path string) []byte {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
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

// takeMark makes this process one of those that an outer pyplug's processes
// left behind, to be reaped.
func takeMark(limit uint64) {
	const realTime = 15 // RLIMIT_RTTIME, which syscall does not name
	syscall.Setrlimit(realTime, &syscall.Rlimit{Cur: limit, Max: 1<<64 - 1})
}

func rest() {
	pause := syscall.Timespec{Nsec: 1e6}
	syscall.Nanosleep(&pause, nil)
}
