//go:build linux || darwin

package warm

import "syscall"

// harmless are variables of ours that change nothing here: where background
// plugins are, which wire reads, and the Python of plugins that are started.
var harmless = [...]string{"PYPLUG_RUN_DIR=", "PYPLUG_PYTHON="}

// Plain tells whether nothing in the environment, or about standard output,
// changes what is printed.
func Plain() bool { return Ordinary(syscall.Environ()) && colourless(syscall.Stdout) }

// Ordinary tells whether nothing in an environment changes what is printed: flags
// of ours, colours that are forced, and the logs of gRPC and of Go.
func Ordinary(environ []string) bool {
next:
	for _, entry := range environ {
		for _, prefix := range harmless {
			if _, found := CutPrefix(entry, prefix); found {
				continue next
			}
		}
		for _, prefix := range []string{"PYPLUG_", "FORCE_COLOR=", "CLICOLOR_FORCE=", "GRPC_GO_", "GODEBUG="} {
			if _, found := CutPrefix(entry, prefix); found {
				return false
			}
		}
	}
	return true
}

// colourless tells whether a descriptor cannot be a terminal's. Of the devices it
// is the null device's alone.
func colourless(fd int) bool {
	var stat, null syscall.Stat_t
	if syscall.Fstat(fd, &stat) != nil {
		return false
	}
	if stat.Mode&syscall.S_IFMT != syscall.S_IFCHR {
		return true
	}
	return syscall.Stat("/dev/null", &null) == nil && stat.Dev == null.Dev && stat.Ino == null.Ino
}

// End prints a result and ends the program. It returns if nothing could be
// printed: the ordinary way says why. If only a part could, it says so as that
// would, with the lines of about below.
//
// It does not write by os.Stdout, which ends the program by SIGPIPE where the
// ordinary way does not.
func End(result []byte, about string) {
	n, err := syscall.Write(syscall.Stdout, result)
	if n <= 0 {
		return
	}
	if n < len(result) {
		err = writeRest(result[n:])
	}
	if err != nil && err != syscall.EPIPE { // a reader that has gone is no error
		_, _ = syscall.Write(syscall.Stderr, []byte("error: standard output: write /dev/stdout: "+err.Error()+"\n"+about))
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

// writeRest writes what standard output did not take at once: it may not block,
// or be full. Interrupting pyplug ends the wait.
func writeRest(rest []byte) error {
	for len(rest) > 0 {
		n, err := syscall.Write(syscall.Stdout, rest)
		switch {
		case n > 0:
			rest = rest[n:]
		case err == syscall.EAGAIN:
			var writable syscall.FdSet
			writable.Bits[0] = 1 << syscall.Stdout
			syscall.Select(syscall.Stdout+1, nil, &writable, nil, nil) // what fails here fails to be written, too
		case err != syscall.EINTR:
			return err
		}
	}
	return nil
}
