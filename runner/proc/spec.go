package proc

import (
	"os"
	"time"
)

// Stream names one of the two streams a process prints to. The zero value is
// standard output.
type Stream uint8

// The streams.
const (
	Stdout Stream = iota
	Stderr
)

// String is "stdout" or "stderr".
func (s Stream) String() string {
	if s == Stderr {
		return "stderr"
	}
	return "stdout"
}

// Line is one line that a process printed, without its newline. The zero value
// is an empty line on standard output.
type Line struct {
	Stream Stream
	// Text holds the bytes as they came, which need not be valid UTF-8.
	Text string
	// Cut is how many bytes were left out at the end of a line longer than
	// 16 KiB; 0 for others.
	Cut int
}

// defaultGrace is what a process has between the first signal and SIGKILL.
const defaultGrace = 5 * time.Second

// Spec says what to start and how. Its zero value names no program.
type Spec struct {
	// Path is the program's absolute path, as it is, symbolic links included;
	// it is also argv[0], by which a Python knows its environment.
	Path string
	// Args follow argv[0].
	Args []string
	// Env is the complete environment, see [Environ]; nil is ours, cleaned.
	// Start adds the tag of the run.
	Env []string
	// Dir is the working directory; "" is ours.
	Dir string
	// Talk makes descriptors 0 and 1 a pair of pipes for a protocol, see
	// [Process.Conn]. Otherwise descriptor 0 is the null device and standard
	// output is read as standard error is.
	Talk bool
	// Forks gives the process a socket as descriptor 3, over which it is asked
	// to fork others, see [Process.Fork]. Linux only.
	Forks bool
	// OnLine receives what the process prints: each stream in its order, never
	// two lines at once, perhaps before Start has returned, not after Done is
	// closed. The stream waits for it, so it must return, and it must not wait
	// for this process's end. Nil discards.
	OnLine func(Line)
	// StackSignal is the signal on which the process prints its Python stacks
	// (faulthandler.register); 0 when there is none.
	StackSignal int
	// Grace is the time from the stop ladder's first signal to SIGKILL; 0
	// means 5 seconds.
	Grace time.Duration
	// Limits bound what the process and all that it started take. Limits that
	// cannot be held are a [*StartError], see [Limits.Check].
	Limits Limits

	// raw receives both streams' bytes in place of lines, for Run.
	raw func(Stream, []byte)
	// control is the child's end of the socket of one that forks.
	control *os.File
}

// Exit says how a process ended. The zero value is an exit with code 0. It has
// the fields of hook.Exit, so that one converts to the other.
type Exit struct {
	// Code is the exit code; -1 when a signal ended the process.
	Code int
	// Signal is the signal's name, such as "SIGSEGV"; empty without one.
	Signal string
	// OutOfMemory tells that the system killed a process for want of memory
	// while this one died by SIGKILL: probably this one.
	OutOfMemory bool
	// Limit tells that pyplug killed it for one of [Limits], and by how much it
	// was exceeded, such as "memory limit of 200 MB: it used 312 MB"; empty
	// otherwise.
	Limit string
	// Uptime runs from the start to the exit.
	Uptime time.Duration
	// Stderr holds the last 20 lines of standard error, the oldest first, each
	// of at most 4 KiB.
	Stderr []string
	// Stacks holds faulthandler's lines, where a hung Python was shown to be
	// just before it was killed.
	Stacks []string
	// Stopped tells that pyplug asked for the exit.
	Stopped bool
	// MaxRSS is the most memory the process had resident, in bytes; 0 when
	// the system does not tell. Linux does not tell when it is less than our
	// own, which a process begins with.
	MaxRSS int64
	// Step is the last step of the stop ladder before it ended: "asked", by
	// word; "closed", the connection; "SIGTERM" or "SIGINT", whichever the
	// ladder sent; "SIGKILL". It is empty when the process ended by itself.
	// Except on Windows, which has no signals, the signal follows "closed" at
	// once, and is told of most processes that the closed connection ended.
	Step string
	// Left names what it left behind, at most 10 processes, each as "sleep (pid
	// 4711)": what it had started, in its group or out of it, that was there
	// when it was dead, did not go by itself within 100 ms, and had to be killed.
	// What was ended by the signal that ended it is not among them. macOS tells
	// only of the group, and Windows nothing.
	Left []string
}
