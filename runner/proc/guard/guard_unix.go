//go:build linux || darwin

package guard

import (
	"os"
	"syscall"
)

// maxPasses bounds the search for processes, with a millisecond between two passes:
// a process that cannot die, because it waits for a disk, must not keep the guard
// for ever.
const maxPasses = 5000

func init() {
	run := Run(os.Getenv(Variable))
	if run == "" || len(os.Args) == 0 || os.Args[0] != Name {
		return
	}
	detach()
	c := cleanup{run: run, groups: map[int]bool{}}
	c.listen()
	c.do()
	os.Exit(0)
}

// cleanup is what the guard does when pyplug is gone.
type cleanup struct {
	run    Run
	temps  []string
	groups map[int]bool
}

// listen reads messages until pyplug's end of the pipe is closed.
func (c *cleanup) listen() {
	var message []byte
	buf := make([]byte, 4096)
	for {
		n, err := syscall.Read(Pipe, buf)
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 {
			return
		}
		for _, b := range buf[:n] {
			if b != 0 {
				message = append(message, b)
				continue
			}
			c.receive(string(message))
			message = message[:0]
		}
	}
}

func (c *cleanup) receive(message string) {
	if dir, ok := cutPrefix(message, Temp); ok {
		c.temps = append(c.temps, dir)
	}
	if group, ok := cutPrefix(message, Group); ok && number(group) > 1 {
		c.groups[number(group)] = true
	}
	if group, ok := cutPrefix(message, GroupEnded); ok {
		delete(c.groups, number(group))
	}
}

// do kills the processes and removes the directories. One pass can miss a process
// that is just being forked, hence two in a row that find none.
func (c *cleanup) do() {
	for group := range c.groups {
		syscall.Kill(-group, syscall.SIGKILL)
	}
	seen := map[string]bool{}
	for empty, i := 0, 0; empty < 2 && i < maxPasses; i++ {
		empty++
		if killTagged(c.run, seen) {
			empty = 0
			pause()
		}
	}
	for _, dir := range c.temps {
		os.RemoveAll(dir)
	}
}

func cutPrefix(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || s[:len(prefix)] != prefix {
		return "", false
	}
	return s[len(prefix):], true
}
