package grpcplugin

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// bound is a TCP socket that listens, and at which address.
type bound struct {
	ip    netip.Addr
	inode string
}

// Numbers of sock_diag(7) that package syscall does not have.
const (
	diagByFamily = 20 // SOCK_DIAG_BY_FAMILY
	stateListen  = 10 // TCP_LISTEN
	// Sizes of struct inet_diag_req_v2, with its netlink header, and of struct
	// inet_diag_msg.
	diagRequest = syscall.SizeofNlMsghdr + 56
	diagAnswer  = 72
)

// askListeners asks the kernel, by sock_diag(7), for the sockets that listen on
// a port. Other than /proc/net/tcp, which takes milliseconds, it does not walk
// through the table of all connections.
func askListeners(port uint16) ([]bound, error) {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, syscall.NETLINK_INET_DIAG)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	defer syscall.Close(fd)
	limit := syscall.NsecToTimeval(time.Second.Nanoseconds())
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit); err != nil {
		return nil, os.NewSyscallError("setsockopt", err)
	}
	var all []bound
	for _, family := range []byte{syscall.AF_INET, syscall.AF_INET6} {
		found, err := askFamily(fd, family, port)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func askFamily(fd int, family byte, port uint16) ([]bound, error) {
	b := make([]byte, 0, diagRequest)
	b = binary.NativeEndian.AppendUint32(b, diagRequest)
	b = binary.NativeEndian.AppendUint16(b, diagByFamily)
	b = binary.NativeEndian.AppendUint16(b, syscall.NLM_F_REQUEST|syscall.NLM_F_DUMP)
	b = append(b, make([]byte, 8)...) // sequence number, sender
	b = append(b, family, syscall.IPPROTO_TCP, 0, 0)
	b = binary.NativeEndian.AppendUint32(b, 1<<stateListen)
	b = binary.BigEndian.AppendUint16(b, port)
	b = b[:diagRequest] // the rest of the address is any
	if err := syscall.Sendto(fd, b, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return nil, os.NewSyscallError("sendto", err)
	}
	var found []bound
	answer := make([]byte, 32<<10)
	for {
		n, _, err := syscall.Recvfrom(fd, answer, 0)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, os.NewSyscallError("recvfrom", err)
		}
		messages, err := syscall.ParseNetlinkMessage(answer[:n])
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			switch {
			case m.Header.Type == syscall.NLMSG_DONE:
				return found, nil
			case m.Header.Type != diagByFamily || len(m.Data) < diagAnswer:
				return nil, fmt.Errorf("sock_diag answered a message of type %d", m.Header.Type)
			case binary.BigEndian.Uint16(m.Data[4:]) == port:
				found = append(found, readAnswer(m.Data))
			}
		}
	}
}

// readAnswer reads a struct inet_diag_msg.
func readAnswer(data []byte) bound {
	ip := netip.AddrFrom16([16]byte(data[8:24]))
	if data[0] == syscall.AF_INET {
		ip = netip.AddrFrom4([4]byte(data[8:12]))
	}
	return bound{ip, strconv.FormatUint(uint64(binary.NativeEndian.Uint32(data[68:])), 10)}
}

// readListeners finds the same in the tables for people.
func readListeners(port uint16) []bound {
	var found []bound
	want := fmt.Sprintf("%04X", port)
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, _ := os.ReadFile(table) // without IPv6 there is no tcp6
		for line := range bytes.Lines(text) {
			// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
			fields := bytes.Fields(line)
			if len(fields) < 10 || string(fields[3]) != "0A" {
				continue
			}
			host, at, _ := bytes.Cut(fields[1], []byte{':'})
			if ip, ok := parseKernelIP(host); ok && string(at) == want {
				found = append(found, bound{ip, string(fields[9])})
			}
		}
	}
	return found
}

// parseKernelIP reads an address as /proc/net has it: words of four bytes in
// hexadecimal, each in the machine's order.
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
