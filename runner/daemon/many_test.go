//go:build unix

package daemon

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// There is an end to how many clients a daemon has, and it is told.
func TestManyClients(t *testing.T) {
	nothingLeft(t)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < 3*maxClients {
		t.Skip("too few descriptors")
	}
	start(t, newFake(), Options{})
	var all []*Client
	for range maxClients {
		c, err := Open(context.Background(), "p")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Status(context.Background()); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	_, err := open(t).Call(context.Background(), hook.Call{Hook: "echo"})
	if kindOf(t, err) != hook.Unavailable || !strings.Contains(err.Error(), "has 1024 clients") {
		t.Errorf("got %v, want that there are too many", err)
	}
	if _, err := open(t).Status(context.Background()); err != nil {
		t.Errorf("a look among many: %v", err)
	}
	for range maxLookers - 2 { // what looks is too many, too, one day
		c := open(t)
		if _, err := c.Status(context.Background()); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	_, err = open(t).Status(context.Background())
	if kindOf(t, err) != hook.Unavailable || !strings.Contains(err.Error(), "has 1024 clients") {
		t.Errorf("got %v, want that there are too many", err)
	}
	for _, c := range all {
		c.Close()
	}
	var last error
	runnertest.Until(t, "a client is taken again", func() bool { // the daemon sees their ends in its own time
		c, err := Open(context.Background(), "p")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, last = c.Status(context.Background())
		return last == nil
	})
}
