//go:build linux || darwin

package warm

import (
	"os"
	"syscall"
)

func init() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case "health":
		if q, ok := readHealth(os.Args[2:]); ok && ordinary(os.Environ()) && colourless(os.Stdout) && q.serving() {
			end("healthy\n")
		}
	}
}

// ordinary tells whether nothing in the environment changes what is printed:
// flags of ours, colours that are forced, and the logs of gRPC and of Go.
func ordinary(environ []string) bool {
	for _, entry := range environ {
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
// printed, and not when a part of it was: the ordinary way would repeat that.
//
// It does not write by os.Stdout, which ends the program by SIGPIPE where the
// ordinary way does not.
func end(result string) {
	switch n, _ := syscall.Write(syscall.Stdout, []byte(result)); {
	case n == len(result):
		os.Exit(0)
	case n > 0:
		os.Exit(1)
	}
}
