package guard

const (
	// Variable tells a process that it is the guard; its value is the run.
	Variable = "PYPLUG_GUARD"
	// Name is the guard's argv[0].
	Name = "pyplug-guard"
	// Pipe is the descriptor the guard reads its messages from.
	Pipe = 3
	// Tag is the environment variable that marks pyplug's children.
	Tag = "PYPLUG_RUN"
)

// Messages to the guard: a word, an argument and a zero byte each.
const (
	// Temp names a directory to remove.
	Temp = "temp "
	// Group and Left tell that a process group began and ended.
	Group = "group "
	Left  = "left "
	// Mark is the resource limit to take on at the end, see [Run].
	Mark = "mark "
)

const (
	runBits      = 38
	instanceBits = 24
)

// Last is the highest number of a process of a run.
const Last = 1<<instanceBits - 1

// Run names one life of pyplug by 38 random bits. Its processes carry two
// marks, both inherited by all that they start:
//
//   - the tag "RUN.INSTANCE" among the elements, divided by colons, of the
//     environment variable [Tag]. There are several when pyplug runs inside a
//     plugin of another pyplug, so that each of them recognises it.
//   - the soft limit of real-time scheduling, a number of microseconds far too
//     large to limit anything, which holds the same two numbers. A process
//     that cleared its environment still has it, and so has a zombie, whose
//     environment is gone. It is the outermost pyplug's, and set right after
//     the start: who clears the environment in that moment escapes.
type Run uint64

// NewRun makes a run of random bits; surplus ones are dropped.
func NewRun(random uint64) Run { return Run(random & (1<<runBits - 1)) }

// String is the run in hexadecimal, always ten digits.
func (r Run) String() string {
	const digits = "0123456789abcdef"
	var b [(runBits + 3) / 4]byte
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = digits[r&15]
		r >>= 4
	}
	return string(b[:])
}

// parseRun reads what String wrote.
func parseRun(s string) (Run, bool) {
	var r Run
	for _, c := range []byte(s) {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | Run(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | Run(c-'a'+10)
		default:
			return 0, false
		}
	}
	return r, len(s) == (runBits+3)/4
}

// Element is the tag of the n-th process that the run started.
func (r Run) Element(n uint32) string { return r.String() + "." + decimal(uint64(n)) }

// Limit is the mark of the n-th process as a resource limit.
func (r Run) Limit(n uint32) uint64 {
	return 1<<(runBits+instanceBits) | uint64(r)<<instanceBits | uint64(n)&(1<<instanceBits-1)
}

// inLimit tells whether limit is the mark of the run's n-th process, or with
// n = 0 of any.
func (r Run) inLimit(limit uint64, n uint32) bool {
	if n != 0 {
		return limit == r.Limit(n)
	}
	return limit>>instanceBits == 1<<runBits|uint64(r)
}

// inEnviron tells whether environ, entries divided by zero bytes, carries the
// tag of the run's n-th process, or with n = 0 of any.
func (r Run) inEnviron(environ []byte, n uint32) bool {
	for len(environ) > 0 {
		entry := environ
		if i := index(environ, 0); i >= 0 {
			entry, environ = environ[:i], environ[i+1:]
		} else {
			environ = nil
		}
		if len(entry) > len(Tag) && string(entry[:len(Tag)]) == Tag && entry[len(Tag)] == '=' {
			return r.inTag(entry[len(Tag)+1:], n)
		}
	}
	return false
}

func (r Run) inTag(tag []byte, n uint32) bool {
	prefix, whole := r.String()+".", r.Element(n)
	for {
		element, rest, more := tag, []byte(nil), false
		if i := index(tag, ':'); i >= 0 {
			element, rest, more = tag[:i], tag[i+1:], true
		}
		if n == 0 && len(element) > len(prefix) && string(element[:len(prefix)]) == prefix {
			return true
		}
		if n != 0 && string(element) == whole {
			return true
		}
		if !more {
			return false
		}
		tag = rest
	}
}

func index(b []byte, c byte) int {
	for i := range b {
		if b[i] == c {
			return i
		}
	}
	return -1
}

func decimal(n uint64) string {
	var b [20]byte
	i := len(b)
	for {
		i--
		b[i] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return string(b[i:])
		}
	}
}

// number reads a decimal number.
func number(s string) (uint64, bool) {
	var n uint64
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, s != ""
}
