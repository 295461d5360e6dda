package grpcplugin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pyplug/pyplug/runner/proc"
)

// CheckPeer returns an error unless the other end of a connection belongs to the
// leader, a plugin's process, or to a descendant. Until a server accepts a TCP
// connection nobody owns its end: CheckPeer waits for that, at most until ctx ends.
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
		// A socket may be closed between the two looks at it.
		case len(foreign) > 0 && slices.Equal(foreign, last):
			return foreignError(conn.RemoteAddr().String(), others, len(foreign) < len(found))
		}
		last = foreign
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// strangers returns the sockets that are open neither in the leader nor in a descendant,
// and the processes in which they are open.
func strangers(inodes []string, leader int) (foreign []string, pids []int) {
	foreign = without(inodes, heldBy(leader))
	if len(foreign) == 0 { // as nearly always
		return nil, nil
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		rest := without(foreign, heldBy(pid)) // all, if the process is another user's
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
// connection, and the inode of its other end. accepted reports whether a process has
// accepted the connection, even if it has closed it since.
func findSockets(conn net.Conn) (inodes []string, accepted bool) {
	ours, theirs := addrPort(conn.LocalAddr()), addrPort(conn.RemoteAddr())
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		var exact, wildcard, peer []string
		for s := range sockets(table, theirs.Port()) {
			ip := s.local.Addr()
			if s.state == listening && s.local == theirs {
				exact = append(exact, s.inode)
			} else if s.state == listening && ip.IsUnspecified() && (theirs.Addr().Is4() || ip.Is6()) {
				wildcard = append(wildcard, s.inode)
			}
			if s.local != theirs || s.remote != ours {
				continue
			}
			if s.inode != "0" {
				peer = []string{s.inode}
			}
			accepted = peer != nil || s.state != established && s.state != handshaking
			break // the kernel lists listeners first
		}
		if exact == nil { // the system prefers a socket bound to the address to one bound to any
			exact = wildcard
		}
		if inodes = append(exact, peer...); inodes != nil || accepted {
			break
		}
	}
	return inodes, accepted
}

func addrPort(a net.Addr) netip.AddrPort {
	at := a.(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// socket is a line of a table of TCP sockets.
type socket struct {
	local, remote netip.AddrPort
	state, inode  string
}

// sockets returns the sockets of a local port.
func sockets(table string, port uint16) iter.Seq[socket] {
	return func(yield func(socket) bool) {
		file, err := os.Open(table)
		if err != nil { // a machine without IPv6 has no tcp6
			return
		}
		defer file.Close()
		suffix := fmt.Appendf(nil, ":%04X", port)
		for lines := bufio.NewScanner(file); lines.Scan(); {
			// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
			f := bytes.Fields(lines.Bytes())
			if len(f) < 10 || !bytes.HasSuffix(f[1], suffix) {
				continue
			}
			if !yield(socket{kernelAddr(f[1]), kernelAddr(f[2]), string(f[3]), string(f[9])}) {
				return
			}
		}
	}
}

// kernelAddr parses an address of /proc/net: words of four bytes in hexadecimal, each
// in the machine's byte order, and the port.
func kernelAddr(text []byte) netip.AddrPort {
	host, port, _ := bytes.Cut(text, []byte{':'})
	ip, _ := hex.DecodeString(string(host)) // the kernel's text is valid
	for word := range slices.Chunk(ip, 4) {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	at, _ := strconv.ParseUint(string(port), 16, 16)
	addr, _ := netip.AddrFromSlice(ip)
	return netip.AddrPortFrom(addr.Unmap(), uint16(at))
}

// peerOf returns the process that listens at the other end of a connection to a Unix
// socket.
func peerOf(fd int) (pid int, err error) {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(peer.Pid), nil
}

// without returns the inodes that are not held.
func without(inodes, held []string) []string {
	return slices.DeleteFunc(slices.Clone(inodes), func(inode string) bool { return slices.Contains(held, inode) })
}

// heldBy returns the inodes of the sockets that a process has open.
func heldBy(pid int) (inodes []string) {
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	entries, _ := os.ReadDir(dir) // none of a process of another user
	for _, entry := range entries {
		target, _ := os.Readlink(dir + entry.Name())
		if inode, ok := strings.CutPrefix(target, "socket:["); ok {
			inodes = append(inodes, strings.TrimSuffix(inode, "]"))
		}
	}
	return inodes
}
