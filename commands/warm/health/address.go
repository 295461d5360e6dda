//go:build linux || darwin

package health

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"github.com/pyplug/pyplug/commands/warm"
)

// readAddress reads unix:PATH, unix:///PATH and IP:PORT, where localhost and
// nothing are an IP too. It tells what to connect to, the first first, and what
// gRPC calls it. An address that needs a resolver or package net is not ok.
func readAddress(address string) (targets []syscall.Sockaddr, authority string, ok bool) {
	if path, isUnix := warm.CutPrefix(address, "unix:"); isUnix {
		path, _ = warm.CutPrefix(path, "//")
		return []syscall.Sockaddr{&syscall.SockaddrUnix{Name: path}}, "localhost", path != ""
	}
	colon := bytes.LastIndexByte([]byte(address), ':')
	if colon < 0 {
		return nil, "", false
	}
	host := address[:colon]
	port, err := strconv.ParseUint(address[colon+1:], 10, 16)
	if err != nil {
		return nil, "", false
	}
	if inner, bracketed := warm.CutPrefix(host, "["); bracketed {
		inner, rest, closed := warm.Cut(inner, "]")
		ip, isIP := parseIPv6(inner)
		if !closed || rest != "" || !isIP {
			return nil, "", false
		}
		return []syscall.Sockaddr{target(ip, int(port))}, address, true
	}
	switch host {
	case "": // as package net and gRPC have it
		host, authority = "127.0.0.1", "localhost"+address
	case "localhost":
		hosts, err := os.ReadFile("/etc/hosts")
		targets = localhost(hosts, int(port))
		return targets, address, err == nil && len(targets) > 0
	default:
		authority = address
	}
	ip, isIP := parseIPv4(host)
	if !isIP {
		return nil, "", false
	}
	return []syscall.Sockaddr{target(ip, int(port))}, authority, true
}

// target makes an address of an IP. To connect to no IP at all is package net's
// and not the system's idea of the local one, which differ for IPv6.
func target(ip []byte, port int) syscall.Sockaddr {
	switch {
	case len(bytes.Trim(ip, "\x00")) == 0:
		return &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
	case len(ip) == 4:
		return &syscall.SockaddrInet4{Port: port, Addr: [4]byte(ip)}
	default:
		return &syscall.SockaddrInet6{Port: port, Addr: [16]byte(ip)}
	}
}

// localhost looks localhost up in the text of a hosts file. Its IPv6 is tried
// before its IPv4, as package net does. It is nil when an address is neither's
// ordinary one: their order would be a matter of RFC 6724.
func localhost(hosts []byte, port int) []syscall.Sockaddr {
	var four, six []syscall.Sockaddr
	for line := range bytes.Lines(hosts) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		words := bytes.Fields(line)
		for i := 1; i < len(words); i++ {
			if string(words[i]) != "localhost" {
				continue
			}
			switch string(words[0]) {
			case "127.0.0.1":
				four = []syscall.Sockaddr{target([]byte{127, 0, 0, 1}, port)}
			case "::1":
				six = []syscall.Sockaddr{target([]byte{15: 1}, port)}
			default:
				return nil
			}
		}
	}
	return append(six, four...)
}

// parseIPv4 reads four decimal numbers.
func parseIPv4(text string) (ip []byte, ok bool) {
	for _, part := range split(text, ".") {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil || len(part) > 1 && part[0] == '0' {
			return nil, false
		}
		ip = append(ip, byte(n))
	}
	return ip, len(ip) == 4
}

// parseIPv6 reads eight hexadecimal numbers, of which "::" leaves some out. It
// knows no zone and no IPv4 at the end.
func parseIPv6(text string) (ip []byte, ok bool) {
	before, after, short := warm.Cut(text, "::")
	head, ok := groups(before)
	tail, ok2 := groups(after)
	length := len(head) + len(tail)
	if !ok || !ok2 || length > 16 || short == (length == 16) {
		return nil, false
	}
	ip = make([]byte, 16)
	copy(ip, head)
	copy(ip[16-len(tail):], tail)
	return ip, true
}

// groups reads some of the numbers of an IPv6 address.
func groups(text string) (numbers []byte, ok bool) {
	if text == "" {
		return nil, true
	}
	for _, part := range split(text, ":") {
		n, err := strconv.ParseUint(part, 16, 16)
		if err != nil || len(part) > 4 {
			return nil, false
		}
		numbers = append(numbers, byte(n>>8), byte(n))
	}
	return numbers, true
}
