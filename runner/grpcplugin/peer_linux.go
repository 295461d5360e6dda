package grpcplugin

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
)

// CheckPeer returns an error unless the other end of a connection belongs to the leader, which is a
// plugin's process, or to a descendant. The end of a TCP connection has no owner until a server
// accepts it. CheckPeer waits for that until ctx ends.
func CheckPeer(ctx context.Context, conn net.Conn, leader int) error {
	if c, ok := conn.(*net.UnixConn); ok {
		return checkUnixPeer(c, leader)
	}
	var last []string
	for delay := time.Millisecond; ; delay = min(2*delay, maxDelay) {
		found, accepted := findSockets(conn)
		foreign, others := strangers(found, leader)
		switch {
		case len(foreign) == 0 && accepted:
			return nil
		// A socket may be closed between two looks at it.
		case len(foreign) > 0 && slices.Equal(foreign, last):
			return foreignError(conn.RemoteAddr().String(), others, len(foreign) < len(found))
		}
		last = foreign
		if hook.Within(ctx.Done(), delay) {
			return ctx.Err()
		}
	}
}

// strangers returns the sockets that neither the leader nor a descendant has open, and the
// processes that have them open.
func strangers(inodes []string, leader int) (foreign []string, pids []int) {
	foreign = without(inodes, heldBy(leader))
	if len(foreign) == 0 { // the usual case
		return nil, nil
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		rest := without(foreign, heldBy(pid)) // all of them, if the process belongs to another user
		switch {
		case len(rest) == len(foreign):
		case proc.Descends(pid, leader):
			foreign = rest
		default:
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return foreign, pids
}

// The states of a TCP socket in the kernel's tables.
const (
	established = "01"
	handshaking = "03"
	listening   = "0A"
)

// findSockets returns the inodes of the sockets that listen at the remote address of a TCP
// connection, and the inode of its other end. accepted reports whether a process has accepted the
// connection, even if it has closed the connection since.
func findSockets(conn net.Conn) (inodes []string, accepted bool) {
	ours, theirs := addrPort(conn.LocalAddr()), addrPort(conn.RemoteAddr())
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if inodes, accepted = findIn(table, ours, theirs); inodes != nil || accepted {
			break
		}
	}
	return inodes, accepted
}

// findIn is findSockets for one of the kernel's tables.
func findIn(table string, ours, theirs netip.AddrPort) (inodes []string, accepted bool) {
	file, err := os.Open(table)
	if err != nil { // a machine without IPv6 has no tcp6
		return nil, false
	}
	defer file.Close()
	var exact, wildcard, peer []string
	port := fmt.Sprintf(":%04X", theirs.Port())
	over := false // whether the listeners have ended; the kernel lists them first
	for lines := bufio.NewScanner(file); !over && lines.Scan(); {
		// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
		f := strings.Fields(lines.Text())
		if len(f) < 10 || !strings.HasSuffix(f[1], port) {
			continue
		}
		local, state, inode := kernelAddr(f[1]), f[3], f[9]
		switch ip := local.Addr(); {
		case state == listening && local == theirs:
			exact = append(exact, inode)
		case state == listening && ip.IsUnspecified() && (theirs.Addr().Is4() || ip.Is6()):
			wildcard = append(wildcard, inode)
		case local == theirs && kernelAddr(f[2]) == ours:
			if inode != "0" {
				peer = []string{inode}
			}
			over, accepted = true, peer != nil || state != established && state != handshaking
		}
	}
	if exact == nil { // the system prefers a socket bound to this address over one bound to any address
		exact = wildcard
	}
	return append(exact, peer...), accepted
}

// isExposed reports whether the server at a TCP address of this machine listens on all interfaces.
// The caller has checked that the plugin owns the server.
func isExposed(address string) bool {
	at, err := netip.ParseAddrPort(address)
	if err != nil { // the address of a Unix socket
		return false
	}
	exposed := false
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, _ := os.ReadFile(table) // a machine without IPv6 has no tcp6
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != listening {
				continue
			}
			switch local := kernelAddr(f[1]); {
			case local == at:
				return false
			case local.Port() == at.Port() && local.Addr().IsUnspecified():
				exposed = true
			}
		}
	}
	return exposed
}

func addrPort(a net.Addr) netip.AddrPort {
	at := a.(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// kernelAddr parses an address of /proc/net: words of four bytes in hexadecimal, each in the
// machine's byte order, and the port.
func kernelAddr(text string) netip.AddrPort {
	host, port, _ := strings.Cut(text, ":")
	ip, _ := hex.DecodeString(host) // the kernel's text is valid
	for word := range slices.Chunk(ip, 4) {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	at, _ := strconv.ParseUint(port, 16, 16)
	addr, _ := netip.AddrFromSlice(ip)
	return netip.AddrPortFrom(addr.Unmap(), uint16(at))
}

// peerOf returns the process that listens at the other end of a connection to a Unix socket.
func peerOf(fd int) (pid int, err error) {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(peer.Pid), nil
}

// without returns the inodes that are not in held.
func without(inodes, held []string) []string {
	return slices.DeleteFunc(slices.Clone(inodes), func(inode string) bool { return slices.Contains(held, inode) })
}

// heldBy returns the inodes of the sockets that a process has open.
func heldBy(pid int) (inodes []string) {
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	entries, _ := os.ReadDir(dir) // none if the process belongs to another user
	for _, entry := range entries {
		target, _ := os.Readlink(dir + entry.Name())
		if inode, ok := strings.CutPrefix(target, "socket:["); ok {
			inodes = append(inodes, strings.TrimSuffix(inode, "]"))
		}
	}
	return inodes
}
