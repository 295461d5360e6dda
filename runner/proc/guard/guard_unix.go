//go:build linux || darwin

package guard

import (
	"os"
	"syscall"
)

// passes bounds how often the guard looks round for processes, with a
// millisecond's rest between two looks: one that cannot die, because it waits
// for a disk, must not keep the guard for ever.
const passes = 5000

func init() {
	value := os.Getenv(Variable)
	if value == "" || len(os.Args) == 0 || os.Args[0] != Name {
		return
	}
	run, ok := parseRun(value)
	if !ok {
		os.Exit(2)
	}
	blend()
	w := will{run: run, groups: map[int]bool{}}
	w.listen()
	w.execute()
	os.Exit(0)
}

// will is what remains to be done when pyplug is gone.
type will struct {
	run    Run
	temps  []string
	mark   uint64 // 0 for none
	groups map[int]bool
}

// listen takes messages until pyplug's end of the pipe is closed.
func (w *will) listen() {
	var pending []byte
	buf := make([]byte, 4096)
	for {
		n, err := syscall.Read(Pipe, buf)
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 {
			return
		}
		pending = append(pending, buf[:n]...)
		for i := index(pending, 0); i >= 0; i = index(pending, 0) {
			w.note(string(pending[:i]))
			pending = pending[i+1:]
		}
	}
}

func (w *will) note(message string) {
	if arg, ok := cut(message, Temp); ok {
		w.temps = append(w.temps, arg)
	}
	if arg, ok := cut(message, Mark); ok {
		w.mark, _ = number(arg)
	}
	if arg, ok := cut(message, Group); ok {
		if n, ok := number(arg); ok && n > 1 {
			w.groups[int(n)] = true
		}
	}
	if arg, ok := cut(message, Left); ok {
		if n, ok := number(arg); ok {
			delete(w.groups, int(n))
		}
	}
}

func (w *will) execute() {
	for group := range w.groups {
		syscall.Kill(-group, syscall.SIGKILL)
	}
	// A process that is being born while the guard looks is seen only by the
	// next look, hence two in a row that find nothing.
	for clean, i := 0, 0; clean < 2 && i < passes; i++ {
		if killMarked(w.run) {
			clean = 0
			rest()
		} else {
			clean++
		}
	}
	for _, temp := range w.temps {
		os.RemoveAll(temp)
	}
	if w.mark != 0 {
		takeMark(w.mark)
	}
}

func cut(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || s[:len(prefix)] != prefix {
		return "", false
	}
	return s[len(prefix):], true
}
