package grpcplugin

import (
	"fmt"
	"slices"
	"strings"
)

// OwnerError says that the address of a handshake is not the plugin's alone.
type OwnerError struct {
	Network, Address string
	// PIDs are the other processes that listen there, as far as they can be
	// told.
	PIDs []int
	// Shared tells that the plugin listens there as well, so that a call would
	// reach either of them.
	Shared bool
}

// Error names the address and who has it.
func (e *OwnerError) Error() string {
	who := "another process"
	if len(e.PIDs) > 0 {
		names := make([]string, len(e.PIDs))
		for i, pid := range e.PIDs {
			names[i] = fmt.Sprint(pid)
		}
		last := len(names) - 1
		who = "process " + names[last]
		if last > 0 {
			who = "processes " + strings.Join(names[:last], ", ") + " and " + names[last]
		}
	}
	if e.Shared {
		return fmt.Sprintf("the address %s belongs to the plugin and to %s, want the plugin alone", e.Address, who)
	}
	return fmt.Sprintf("the address %s belongs to %s, want the plugin", e.Address, who)
}

// listener is a socket that takes connections at an address. The smaller its
// rank, the sooner the system gives it a connection.
type listener struct {
	inode string
	rank  int
}

// nearest are the inodes of the listeners that connections go to.
func nearest(all []listener) []string {
	var inodes []string
	best := 0
	for _, l := range all {
		if len(inodes) == 0 || l.rank < best {
			inodes, best = []string{l.inode}, l.rank
		} else if l.rank == best {
			inodes = append(inodes, l.inode)
		}
	}
	slices.Sort(inodes)
	return slices.Compact(inodes)
}
