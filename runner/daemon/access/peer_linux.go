package access

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// knowsPeers reports whether this system knows the user at the other end of a loopback connection.
const knowsPeers = true

// peerUID returns the user of the socket at the other end of a connection, from the kernel's table
// of connections: /proc/net/tcp in proc(5). A row without an inode belongs to a closed socket,
// whose user is unknown.
func peerUID(local, remote net.Addr) (int, error) {
	from, to := addressOf(remote), addressOf(local)
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(file)
		if errors.Is(err, os.ErrNotExist) { // a system without IPv6
			continue
		}
		if err != nil {
			return 0, err
		}
		uid, found := findRow(f, from, to)
		_ = f.Close()
		if found {
			return uid, nil
		}
	}
	return 0, fmt.Errorf("no open socket here has the address %s", from)
}

// findRow returns the user in a connection's row.
func findRow(table *os.File, from, to netip.AddrPort) (uid int, found bool) {
	rows := bufio.NewScanner(table)
	rows.Scan() // skips the heading
	for rows.Scan() {
		f := strings.Fields(rows.Text()) // number, local address, remote address, state, queues, timer, retransmits, uid, timeout, inode
		if len(f) < 10 || f[9] == "0" || parseRow(f[1]) != from || parseRow(f[2]) != to {
			continue
		}
		uid, err := strconv.Atoi(f[7])
		return uid, err == nil
	}
	return 0, false
}

// parseRow reads an address such as 0100007F:1F90. Each group of four bytes has the byte order of
// the machine, which is little endian on every machine that pyplug is built for.
func parseRow(text string) netip.AddrPort {
	ip, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(ip)
	n, _ := strconv.ParseUint(port, 16, 16)
	for word := range slices.Chunk(b, 4) {
		slices.Reverse(word)
	}
	addr, ok := netip.AddrFromSlice(b)
	if err != nil || !ok {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(n))
}

func addressOf(a net.Addr) netip.AddrPort {
	p := a.(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap().WithZone(""), p.Port())
}
