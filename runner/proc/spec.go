package proc

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Stream is one of the two streams to which a process prints.
type Stream string

// The streams.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// Line is one line of a process's output, without its newline.
type Line struct {
	Stream Stream
	// Text contains the bytes as printed, which need not be valid UTF-8.
	Text string
	// Cut is the number of bytes dropped at the end of a line longer than 16 KiB.
	Cut int
}

// defaultGrace is the time between the first signal and SIGKILL.
const defaultGrace = 5 * time.Second

// Spec says what to start and how.
type Spec struct {
	// Path is the program's absolute path with symbolic links unresolved. It is also argv[0], which
	// a Python uses to find its environment.
	Path string
	// Args follow argv[0]. In a process that talks, Start replaces [DescriptorsArg].
	Args []string
	// Env is the complete environment, see [Environ]. If it is nil, the process gets pyplug's
	// environment without variables that mislead Python. Start adds the tag.
	Env []string
	// Dir is the working directory, by default pyplug's.
	Dir string
	// Talk gives the process a pair of pipes for a protocol, see [Process.Conn] and [Descriptors].
	// They are not the standard descriptors, so that programs that run before the process, and do
	// not know of the pipes, cannot touch them.
	Talk bool
	// Forks gives a process with Talk a socket for fork requests, see [Process.Fork]. It works only
	// on Linux.
	Forks bool
	// OnLine receives the lines that the process prints, each stream in order. Calls never overlap.
	// It may be called before Start has returned, but not after Done is closed. The stream waits
	// for it, so it must return, and must not wait for the end of this process. If it is nil, the
	// lines are discarded.
	OnLine func(Line)
	// StackSignal is the signal on which the process prints its Python stacks
	// (faulthandler.register), or 0 for none.
	StackSignal int
	// Grace is the time from the stop ladder's first signal to SIGKILL. Zero means 5 seconds.
	Grace time.Duration
	// AskTime is the time to exit after the process is asked to. It is at least a second. Time used
	// beyond a second shortens Grace, but not below a second.
	AskTime time.Duration
	// MaxMemory is the limit of the resident memory, in bytes, of the process and everything that
	// it starts. Zero means no limit. Shared memory is divided among its users. pyplug measures ten
	// times a second and misses a shorter excess. It kills a tree above the limit, and [Exit] says
	// so. If this system cannot enforce a limit, Start fails, see [CheckMaxMemory].
	MaxMemory int64

	// raw receives the bytes of both streams instead of lines. It is for Run.
	raw func(Stream, []byte)
	// control is the child's end of the socket of a process that forks.
	control *os.File
}

// Exit says how a process ended. It has the same fields as hook.Exit, so that one can be converted
// to the other.
type Exit struct {
	// Code is the exit code, or -1 if a signal ended the process.
	Code int
	// Signal is the signal's name, such as "SIGSEGV", or empty.
	Signal string
	// OutOfMemory reports whether this process died by SIGKILL while the system killed a process
	// because memory ran out. That process was probably this one.
	OutOfMemory bool
	// Limit is the reason if pyplug killed the process because of its MaxMemory, such as "memory
	// limit of 200 MB: it used 312 MB", or empty.
	Limit string
	// Uptime is the time from start to exit.
	Uptime time.Duration
	// Stderr contains the last 20 lines of standard error, oldest first, each of at most 4 KiB.
	// With Talk it includes the lines of standard output, too.
	Stderr []string
	// Stacks contains faulthandler's lines. They show where a hung Python was just before it was
	// killed.
	Stacks []string
	// Stopped reports whether pyplug requested the exit.
	Stopped bool
	// Step is the last step of the stop ladder before the end: "asked" (by the protocol), "closed"
	// (the connection), "SIGTERM" or "SIGINT", "SIGKILL". It is empty if the process exited by
	// itself. Except on Windows, which has no signals, the signal follows "closed" at once. So Step
	// names the signal even for most processes that the closed connection ended.
	Step string
	// Left names at most 10 processes that the process left behind, each as "sleep (pid 4711)".
	// These are descendants, in its group or not, that still existed when it was dead, did not exit
	// by themselves within 100 ms, and had to be killed. Processes that died of the same signal as
	// the process itself are not listed. It is empty on macOS and Windows.
	Left []string
}

var errNotAbsolute = errors.New("the path is relative, expected an absolute one")

// startError returns the error of a process that could not be started.
func startError(path string, err error) error { return fmt.Errorf("cannot start %s: %w", path, err) }

// diagnose finds out why the system could not start a process. The same errno may concern the
// program, its working directory, or its "#!" line.
func diagnose(s Spec, err error) error {
	if info, statErr := os.Stat(s.Dir); s.Dir != "" && statErr != nil {
		return errors.New("the working directory " + s.Dir + " does not exist")
	} else if s.Dir != "" && !info.IsDir() {
		return errors.New("the working directory " + s.Dir + " is not a directory")
	}
	if errors.Is(err, syscall.ENOEXEC) {
		return errors.New(`neither a program for this machine nor a script that begins with "#!"`)
	}
	if program := shebang(s.Path); errors.Is(err, fs.ErrNotExist) && program != "" {
		return fmt.Errorf("its first line names %q, which does not exist", program)
	}
	return err
}

// shebang returns the program that a script's first line names, or "".
func shebang(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(f, 512).ReadSlice('\n')
	rest, ok := strings.CutPrefix(string(line), "#!")
	words := strings.FieldsFunc(rest, func(c rune) bool { return c == ' ' || c == '\t' || c == '\n' }) // a carriage return belongs to the name
	if !ok || len(words) == 0 || !filepath.IsAbs(words[0]) {
		return ""
	}
	return words[0]
}
