package handshake

import (
	"net"
	"net/netip"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Want is what a line is held to.
type Want struct {
	// Versions are the app versions that were offered; empty allows any.
	Versions []int
	// TLS says that the connection will be encrypted, by [Host].ClientCert.
	TLS bool
	// Mux says that multiplexing was asked for.
	Mux bool
	// Dirs are the directories in which a Unix socket may be, itself or in one
	// below; empty allows any. They are compared as they are written, so that a
	// directory which is reached in two ways is to be given in both.
	Dirs []string
}

// Verify checks that the line says what was asked for, and that its address can
// only be on this machine. The error is an [*Error] about the first field that is
// wrong.
func (l Line) Verify(w Want) error {
	switch {
	case l.Core != 1:
		return l.fail(fieldCore, "1")
	case len(w.Versions) > 0 && !slices.Contains(w.Versions, l.App):
		return l.fail(fieldApp, listed(w.Versions))
	}
	switch l.Network {
	case "tcp":
		if err := l.tcp(); err != nil {
			return err
		}
	case "unix":
		if err := l.unix(w.Dirs); err != nil {
			return err
		}
	default:
		return l.fail(fieldNetwork, `"tcp" or "unix"`)
	}
	switch {
	case l.Protocol != "grpc":
		return l.fail(fieldProtocol, `"grpc"`)
	case w.TLS && l.Cert == nil:
		return l.fail(fieldCert, "a certificate, since TLS was asked for")
	case !w.TLS && l.Cert != nil:
		return l.fail(fieldCert, "none, since TLS was not asked for")
	case w.Mux && !l.Mux:
		return l.fail(fieldMux, `"true", since multiplexing was asked for`)
	}
	return nil
}

// tcp checks an address on tcp. A name is not looked up: what it stands for can
// change between the check and the connection.
func (l Line) tcp() error {
	host, port, err := net.SplitHostPort(l.Address)
	if err != nil {
		return l.fail(fieldAddress, "an IP address and a port, such as 127.0.0.1:4410 or [::1]:4410")
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return l.fail(fieldAddress, "an IP address, not a name, such as 127.0.0.1:4410")
	case !ip.Unmap().IsLoopback():
		return l.fail(fieldAddress, "a loopback address, such as 127.0.0.1:4410")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return l.fail(fieldAddress, "a port from 1 to 65535")
	}
	return nil
}

// unix checks the path of a socket.
func (l Line) unix(dirs []string) error {
	path := l.Address
	switch {
	case strings.ContainsRune(path, 0):
		return l.fail(fieldAddress, "a path without a zero byte")
	case !filepath.IsAbs(path):
		return l.fail(fieldAddress, "an absolute path")
	case len(path) > MaxSocket():
		return l.fail(fieldAddress, "a path of at most "+strconv.Itoa(MaxSocket())+" bytes")
	case len(dirs) == 0:
		return nil
	}
	// A ".." could lead out of the directory through a link.
	above := slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "..")
	for _, dir := range dirs {
		if in, err := filepath.Rel(dir, path); err == nil && !above && in != "." && filepath.IsLocal(in) {
			return nil
		}
	}
	return l.fail(fieldAddress, "a path in "+strings.Join(dirs, " or "))
}

// MaxSocket is how many bytes the path of a Unix socket may have on this system.
func MaxSocket() int {
	switch runtime.GOOS {
	case "linux", "windows":
		return 107
	}
	return 103
}

// listed is "1", "1 or 2", "1, 2 or 3".
func listed(versions []int) string {
	words := make([]string, len(versions))
	for i, v := range versions {
		words[i] = strconv.Itoa(v)
	}
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
