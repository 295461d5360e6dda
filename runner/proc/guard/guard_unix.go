//go:build linux || darwin

package guard

import (
	"bufio"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxPasses limits the search for processes, with a millisecond between two passes. A process that
// cannot die, because it waits for a disk, must not keep the guard alive forever.
const maxPasses = 5000

func init() {
	run := os.Getenv(Variable)
	if run == "" || len(os.Args) == 0 || os.Args[0] != Name {
		return
	}
	detach()
	c := cleanup{run: run, groups: map[int]bool{}}
	c.listen()
	c.do()
	os.Exit(0)
}

// detach makes the guard ignore signals for pyplug, leave the working directory and, on Linux, set
// its name.
func detach() {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	os.Chdir("/")
	os.WriteFile("/proc/self/comm", []byte(Name), 0)
}

// cleanup is the work of the guard after pyplug is gone.
type cleanup struct {
	run    string
	temps  []string
	groups map[int]bool
}

// listen reads messages until pyplug's end of the pipe is closed.
func (c *cleanup) listen() {
	for from := bufio.NewReader(os.NewFile(Pipe, "pipe")); ; {
		message, err := from.ReadString(0)
		if err != nil {
			return
		}
		word, argument, _ := strings.Cut(strings.TrimSuffix(message, "\x00"), " ")
		group, _ := strconv.Atoi(argument)
		switch word + " " {
		case Temp:
			c.temps = append(c.temps, argument)
		case Group:
			c.groups[group] = true
		case GroupEnded:
			delete(c.groups, group)
		}
	}
}

// do kills the processes and removes the directories. One pass can miss a process that is just
// being forked, so do ends when two passes in a row find none.
func (c *cleanup) do() {
	for group := range c.groups {
		syscall.Kill(-group, syscall.SIGKILL)
	}
	seen := map[string]bool{}
	for empty, i := 0, 0; empty < 2 && i < maxPasses; i++ {
		empty++
		if killTagged(c.run, seen) {
			empty = 0
			time.Sleep(time.Millisecond)
		}
	}
	for _, dir := range c.temps {
		os.RemoveAll(dir)
	}
}
