//go:build linux || darwin

package warm

import (
	"errors"
	"os"
	"syscall"

	"github.com/pyplug/pyplug/runner/wire"
)

func init() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case "health":
		if q, ok := readHealth(os.Args[2:]); ok && ordinary(os.Environ()) && colourless(os.Stdout) && q.serving() {
			end([]byte("healthy\n"), "")
		}
	case "call":
		if c, ok := readCall(os.Args[2:]); ok && ordinary(os.Environ()) && colourless(os.Stdout) {
			line, left := c.answer()
			if line != nil {
				end(line, "  plugin: "+c.name+"\n")
			}
			wire.Leave(left)
		}
	}
}

// harmless are variables of ours that change nothing here: where background
// plugins are, which wire reads, and the Python of plugins that are started.
var harmless = [...]string{"PYPLUG_RUN_DIR=", "PYPLUG_PYTHON="}

// ordinary tells whether nothing in the environment changes what is printed:
// flags of ours, colours that are forced, and the logs of gRPC and of Go.
func ordinary(environ []string) bool {
next:
	for _, entry := range environ {
		for _, prefix := range harmless {
			if _, found := cutPrefix(entry, prefix); found {
				continue next
			}
		}
		for _, prefix := range []string{"PYPLUG_", "FORCE_COLOR=", "CLICOLOR_FORCE=", "GRPC_GO_", "GODEBUG="} {
			if _, found := cutPrefix(entry, prefix); found {
				return false
			}
		}
	}
	return true
}

// colourless tells whether a file cannot be a terminal. Of the devices it is the
// null device alone.
func colourless(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	if info.Mode()&os.ModeCharDevice == 0 {
		return true
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

// end prints a result and ends the program. It returns if nothing could be
// printed: the ordinary way says why. If only a part could, it says so as that
// would, with the lines of about below.
//
// It does not write by os.Stdout, which ends the program by SIGPIPE where the
// ordinary way does not.
func end(result []byte, about string) {
	n, err := syscall.Write(syscall.Stdout, result)
	if n <= 0 {
		return
	}
	if n < len(result) {
		err = writeRest(result[n:])
	}
	if err != nil && !errors.Is(err, syscall.EPIPE) { // a reader that has gone is no error
		os.Stderr.WriteString("error: hook: standard output: " + err.Error() + "\n" + about)
		os.Exit(1)
	}
	os.Exit(0)
}

// writeRest writes what standard output did not take at once: it may not block,
// or be full. Interrupting pyplug ends the wait.
func writeRest(rest []byte) error {
	fd, err := syscall.Dup(syscall.Stdout)
	if err != nil {
		return err
	}
	_, err = os.NewFile(uintptr(fd), os.Stdout.Name()).Write(rest)
	return err
}
