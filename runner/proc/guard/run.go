package guard

const (
	// Variable makes a process the guard; its value is the run.
	Variable = "PYPLUG_GUARD"
	// Name is the guard's argv[0].
	Name = "pyplug-guard"
	// Pipe is the descriptor from which the guard reads its messages.
	Pipe = 3
	// Tag is the environment variable that marks the processes of a run. Children
	// inherit it, also those that leave the group, the session or their parent. Its
	// value is one element "RUN.NUMBER", or several separated by colons if pyplug
	// runs inside a plugin of another pyplug.
	Tag = "PYPLUG_RUN"
)

// Messages to the guard: a word, an argument and a zero byte each.
const (
	// Temp names a directory to remove.
	Temp = "temp "
	// Group and GroupEnded report the start and the end of a process group.
	Group      = "group "
	GroupEnded = "ended "
)

// Run names one life of pyplug by random bits, in hexadecimal.
type Run string

// NewRun makes a run of random bits.
func NewRun(random uint64) Run { return Run(hexadecimal(random, 16)) }

// Prefix is how the elements of all processes of the run begin.
func (r Run) Prefix() string { return string(r) + "." }

// Element is the element of the n-th process that the run started. All elements are
// of the same length.
func (r Run) Element(n uint32) string { return r.Prefix() + hexadecimal(uint64(n), 8) }

func hexadecimal(n uint64, digits int) string {
	b := make([]byte, digits)
	for i := range b {
		b[digits-1-i] = "0123456789abcdef"[n&15]
		n >>= 4
	}
	return string(b)
}

// contains reports whether text contains part, as [bytes.Contains] does.
func contains(text []byte, part string) bool {
	for i := 0; i+len(part) <= len(text); i++ {
		if string(text[i:i+len(part)]) == part {
			return true
		}
	}
	return false
}

// number parses a decimal number; it returns 0 for anything else.
func number(s string) int {
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' || n > 1<<30 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
