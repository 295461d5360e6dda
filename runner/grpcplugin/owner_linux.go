package grpcplugin

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

// checkOwner returns a [*hook.Error] if another process than the leader and those
// that it started listens at an address. That nobody listens is no error here:
// connecting reports it.
func checkOwner(leader int, network, address string) error {
	var listeners []string
	if network == "unix" {
		listeners = unixListeners(address)
	} else {
		listeners = tcpListeners(address)
	}
	foreign := without(listeners, heldBy(leader))
	if len(foreign) == 0 { // as nearly always
		return nil
	}
	all := processes()
	for _, pid := range all {
		if held := heldBy(pid); len(without(foreign, held)) < len(foreign) && isDescendant(pid, leader) {
			foreign = without(foreign, held)
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	var others []int // processes of other users cannot be seen
	for _, pid := range all {
		if len(without(foreign, heldBy(pid))) < len(foreign) {
			others = append(others, pid)
		}
	}
	slices.Sort(others)
	return ownerError(address, others, len(foreign) < len(listeners))
}

// ownerError is the error for an address that other processes listen at, too or
// instead.
func ownerError(address string, pids []int, shared bool) *hook.Error {
	who := "another process"
	switch len(pids) {
	case 0:
	case 1:
		who = fmt.Sprintf("process %d", pids[0])
	default:
		who = "processes " + strings.ReplaceAll(strings.Trim(fmt.Sprint(pids), "[]"), " ", ", ")
	}
	e := &hook.Error{Kind: hook.Handshake, Reason: ReasonForeignAddress}
	if shared {
		e.Err = fmt.Errorf("the address %s belongs to the plugin and to %s, want the plugin alone", address, who)
		e.Hints = []string{`gRPC shares ports by default; turn that off with grpc.server(…, options=[("grpc.so_reuseport", 0)])`}
	} else {
		e.Err = fmt.Errorf("the address %s belongs to %s, want the plugin", address, who)
		e.Hints = []string{"listen on 127.0.0.1:0 and print the port that the system chose"}
	}
	return e
}

// tcpListeners returns the inodes of the sockets that receive connections to an
// address. The system prefers one bound to the address to one bound to any.
func tcpListeners(address string) []string {
	want, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil
	}
	ip := want.Addr().Unmap()
	var exact, wildcard []string
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		for _, l := range readListeners(table, want.Port()) {
			switch bound := l.ip.Unmap(); {
			case bound == ip:
				exact = append(exact, l.inode)
			case bound.IsUnspecified() && (ip.Is4() || bound.Is6()):
				wildcard = append(wildcard, l.inode)
			}
		}
		if len(exact) > 0 {
			return exact
		}
	}
	return wildcard
}

// listener is a TCP socket that listens.
type listener struct {
	ip    netip.Addr
	inode string
}

// readListeners returns the sockets that listen on a port. The kernel lists
// listeners first. Reading on takes milliseconds, since the kernel then walks
// through the table of all connections, and so each read asks for one line.
func readListeners(table string, port uint16) (found []listener) {
	file, err := os.Open(table)
	if err != nil { // a machine without IPv6 has no tcp6
		return nil
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 150), 4096)
	lines.Scan() // the names of the columns
	for lines.Scan() {
		// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
		fields := bytes.Fields(lines.Bytes())
		if len(fields) < 10 || string(fields[3]) != "0A" {
			break
		}
		host, at, _ := bytes.Cut(fields[1], []byte{':'})
		if ip, ok := parseKernelIP(host); ok && string(at) == fmt.Sprintf("%04X", port) {
			found = append(found, listener{ip, string(fields[9])})
		}
	}
	return found
}

// parseKernelIP parses an address of /proc/net: words of four bytes in hexadecimal,
// each in the machine's byte order.
func parseKernelIP(text []byte) (netip.Addr, bool) {
	ip, err := hex.DecodeString(string(text))
	if err != nil {
		return netip.Addr{}, false
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		for word := range slices.Chunk(ip, 4) {
			slices.Reverse(word)
		}
	}
	return netip.AddrFromSlice(ip)
}

// unixListeners returns the inodes of the sockets that listen at a path.
func unixListeners(path string) []string {
	const accepts = "00010000"
	text, _ := os.ReadFile("/proc/net/unix") // always there
	var inodes []string
	for line := range bytes.Lines(text) {
		// num refcount protocol flags type st inode path
		fields := bytes.Fields(line)
		if len(fields) >= 8 && string(fields[3]) == accepts && bytes.HasSuffix(bytes.TrimSpace(line), []byte(" "+path)) {
			inodes = append(inodes, string(fields[6]))
		}
	}
	return inodes
}

// without returns the inodes that are not held.
func without(inodes, held []string) []string {
	return slices.DeleteFunc(slices.Clone(inodes), func(inode string) bool { return slices.Contains(held, inode) })
}

// heldBy returns the inodes of the sockets that a process has open.
func heldBy(pid int) []string {
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	entries, _ := os.ReadDir(dir) // none of a process of another user
	var inodes []string
	for _, entry := range entries {
		target, _ := os.Readlink(dir + entry.Name())
		if inode, ok := strings.CutPrefix(target, "socket:["); ok {
			inodes = append(inodes, strings.TrimSuffix(inode, "]"))
		}
	}
	return inodes
}

// isDescendant reports whether the leader started a process, directly or through
// others, or one in its group did.
func isDescendant(pid, leader int) bool {
	for steps := 0; pid > 1 && steps < 1000; steps++ { // numbers may be reused meanwhile
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		// The fields after the name in parentheses: state, parent, group.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 3 {
			return false
		}
		if group, _ := strconv.Atoi(string(fields[2])); pid == leader || group == leader {
			return true
		}
		pid, _ = strconv.Atoi(string(fields[1]))
	}
	return false
}

// processes returns the numbers of all processes.
func processes() []int {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	pids := make([]int, 0, len(dirs))
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
