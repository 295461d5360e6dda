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

// wantNoCert is what Verify expects of the certificate without TLS.
const wantNoCert = "none, because TLS was not requested"

// Want is what a line has to say.
type Want struct {
	// Versions are the app versions that the host offered; empty allows any.
	Versions []int
	// NetRPC reports that the plugin may be one of net/rpc, as one in Python cannot.
	NetRPC bool
	// TLS reports that the connection will be encrypted, by [Host].ClientCert.
	TLS bool
	// Dirs are the directories for a Unix socket, at any depth; empty allows any.
	// Verify compares paths as text, so a directory that has two paths must be
	// listed by both.
	Dirs []string
}

// Verify checks that the line says what the host asked for, and that its address can
// only be on this machine. It returns an [*Error] about the first wrong field.
func (l Line) Verify(w Want) error {
	switch {
	case l.Core != 1:
		return l.fieldError(fieldCore, "1")
	case l.Protocol != "grpc":
		// Before the version, which is not gRPC's.
		e := l.fieldError(fieldProtocol, `"grpc"`)
		e.netRPC = w.NetRPC && (l.Protocol == "netrpc" || l.Protocol == "")
		e.otherVersion = len(w.Versions) > 0 && !slices.Contains(w.Versions, l.App)
		return e
	case len(w.Versions) > 0 && !slices.Contains(w.Versions, l.App):
		return l.fieldError(fieldApp, strings.Join(decimals(w.Versions), " or "))
	}
	if err := l.verifyAddress(w.Dirs); err != nil {
		return err
	}
	switch {
	case w.TLS && l.Cert == nil:
		return l.fieldError(fieldCert, "a certificate, because TLS was requested")
	case !w.TLS && l.Cert != nil:
		return l.fieldError(fieldCert, wantNoCert)
	}
	return nil
}

func (l Line) verifyAddress(dirs []string) error {
	switch l.Network {
	case "tcp":
		return l.verifyTCP()
	case "unix":
		return l.verifySocket(dirs)
	}
	return l.fieldError(fieldNetwork, `"tcp" or "unix"`)
}

// verifyTCP never looks up a name: its address can change between the check and the
// connection.
func (l Line) verifyTCP() error {
	host, port, err := net.SplitHostPort(l.Address)
	if err != nil {
		return l.fieldError(fieldAddress, "an IP address and a port, such as 127.0.0.1:4410 or [::1]:4410")
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return l.fieldError(fieldAddress, "an IP address, not a name, such as 127.0.0.1:4410")
	case !ip.Unmap().IsLoopback():
		return l.fieldError(fieldAddress, "a loopback address, such as 127.0.0.1:4410")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return l.fieldError(fieldAddress, "a port from 1 to 65535")
	}
	return nil
}

func (l Line) verifySocket(dirs []string) error {
	path := l.Address
	switch {
	case strings.ContainsRune(path, 0):
		return l.fieldError(fieldAddress, "a path without a zero byte")
	case !filepath.IsAbs(path):
		return l.fieldError(fieldAddress, "an absolute path")
	case len(path) > MaxSocket():
		return l.fieldError(fieldAddress, "a path of at most "+strconv.Itoa(MaxSocket())+" bytes")
	case len(dirs) == 0:
		return nil
	}
	// Through a link, ".." could leave the directory.
	above := slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "..")
	for _, dir := range dirs {
		if in, err := filepath.Rel(dir, path); err == nil && !above && in != "." && filepath.IsLocal(in) {
			return nil
		}
	}
	return l.fieldError(fieldAddress, "a path in "+strings.Join(dirs, " or "))
}

// MaxSocket is the maximum length of a Unix socket path on this system, in bytes.
func MaxSocket() int {
	switch runtime.GOOS {
	case "linux", "windows":
		return 107
	}
	return 103
}
