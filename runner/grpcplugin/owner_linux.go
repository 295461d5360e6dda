package grpcplugin

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// checkOwner returns an [*OwnerError] when somebody else than the process
// leader and what it started listens at an address. Nobody listening is no
// error here: connecting tells that.
func checkOwner(leader int, network, address string) error {
	var at []listener
	if network == "unix" {
		at = unixListeners(address)
	} else {
		at = tcpListeners(address)
	}
	foreign := nearest(at)
	all := len(foreign)
	if all == 0 {
		return nil
	}
	// The leader itself is the usual owner; the tree is looked up only when it
	// is not.
	foreign = without(foreign, leader)
	if len(foreign) == 0 {
		return nil
	}
	family := tree(leader)
	for _, pid := range family {
		foreign = without(foreign, pid)
	}
	if len(foreign) == 0 {
		return nil
	}
	return &OwnerError{Network: network, Address: address, Shared: len(foreign) < all,
		PIDs: holders(foreign, append(family, leader))}
}

// tcpListeners finds the sockets that listen where address is reached. The
// system prefers one bound to the address to one bound to any.
func tcpListeners(address string) []listener {
	want, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil
	}
	all, err := askListeners(want.Port())
	if err != nil { // a sandbox
		all = readListeners(want.Port())
	}
	ip := want.Addr().Unmap()
	var found []listener
	for _, b := range all {
		switch at := b.ip.Unmap(); {
		case at == ip:
			found = append(found, listener{b.inode, 0})
		case at == netip.IPv4Unspecified() && ip.Is4():
			found = append(found, listener{b.inode, 1})
		case at == netip.IPv6Unspecified():
			found = append(found, listener{b.inode, 2})
		}
	}
	return found
}

// unixListeners finds the sockets that listen at a path.
func unixListeners(path string) []listener {
	const accepts = "00010000"
	text, _ := os.ReadFile("/proc/net/unix") // always there
	var found []listener
	for line := range bytes.Lines(text) {
		// num refcount protocol flags type st inode path
		fields := bytes.Fields(line)
		if len(fields) >= 8 && string(fields[3]) == accepts && bytes.HasSuffix(bytes.TrimSpace(line), []byte(" "+path)) {
			found = append(found, listener{inode: string(fields[6])})
		}
	}
	return found
}

// without leaves out the sockets that a process holds.
func without(inodes []string, pid int) []string {
	if len(inodes) == 0 {
		return nil
	}
	dir := "/proc/" + strconv.Itoa(pid) + "/fd/"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return inodes
	}
	left := slices.Clone(inodes)
	for _, entry := range entries {
		target, err := os.Readlink(dir + entry.Name())
		if err != nil {
			continue
		}
		if inode, ok := strings.CutPrefix(target, "socket:["); ok {
			inode = strings.TrimSuffix(inode, "]")
			left = slices.DeleteFunc(left, func(s string) bool { return s == inode })
		}
	}
	return left
}

// holders are the processes that hold one of the sockets, except those known.
// Those of other users cannot be told.
func holders(inodes []string, known []int) []int {
	var pids []int
	for _, pid := range processes() {
		if !slices.Contains(known, pid) && len(without(inodes, pid)) < len(inodes) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// tree are the living processes that the leader started and those of its group.
func tree(leader int) []int {
	parents := map[int]int{}
	var in []int
	for _, pid := range processes() {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			continue
		}
		// The fields after the name in parentheses: state, parent, group.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 3 {
			continue
		}
		parent, _ := strconv.Atoi(string(fields[1]))
		group, _ := strconv.Atoi(string(fields[2]))
		parents[pid] = parent
		if group == leader {
			in = append(in, pid)
		}
	}
	for pid := range parents {
		steps := 0 // the table is not of one moment: a circle cannot be ruled out
		for at := pid; at > 1 && steps < 1000; at, steps = parents[at], steps+1 {
			if at == leader || slices.Contains(in, at) {
				in = append(in, pid)
				break
			}
		}
	}
	return in
}

// processes lists the numbers of all processes.
func processes() []int {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	pids := make([]int, 0, len(dirs))
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
