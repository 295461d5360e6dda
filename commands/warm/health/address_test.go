//go:build linux || darwin

package health

import (
	"net"
	"os"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestReadAddress(t *testing.T) {
	four := func(a, b, c, d byte, port int) syscall.Sockaddr {
		return &syscall.SockaddrInet4{Addr: [4]byte{a, b, c, d}, Port: port}
	}
	for address, want := range map[string]struct {
		target    syscall.Sockaddr
		authority string
	}{
		"127.0.0.1:80":       {four(127, 0, 0, 1, 80), "127.0.0.1:80"},
		"10.20.30.255:65535": {four(10, 20, 30, 255, 65535), "10.20.30.255:65535"},
		":80":                {four(127, 0, 0, 1, 80), "localhost:80"},
		"0.0.0.0:80":         {four(127, 0, 0, 1, 80), "0.0.0.0:80"},
		"[::]:80":            {four(127, 0, 0, 1, 80), "[::]:80"},
		"[::1]:80":           {&syscall.SockaddrInet6{Addr: [16]byte{15: 1}, Port: 80}, "[::1]:80"},
		"unix:/run/s":        {&syscall.SockaddrUnix{Name: "/run/s"}, "localhost"},
		"unix:///run/s":      {&syscall.SockaddrUnix{Name: "/run/s"}, "localhost"},
		"unix:s":             {&syscall.SockaddrUnix{Name: "s"}, "localhost"},
		"unix:@s":            {&syscall.SockaddrUnix{Name: "@s"}, "localhost"},
		"unix:":              {}, "unix://": {}, "": {}, ":": {}, "80": {}, "127.0.0.1": {}, "127.0.0.1:": {}, "127.0.0.1:http": {},
		"127.0.0.1:65536": {}, "127.0.0.1:-1": {}, "127.0.0.1:+1": {}, "127.0.0.1:1:2": {}, "127.0.0.01:80": {}, "127.0.0.256:80": {},
		"127.0.0:80": {}, "127.0.0.1.1:80": {}, "example.org:80": {}, "::1:80": {}, "[::1]": {}, "[::1:80": {}, "[::1]x:80": {},
		"[127.0.0.1]:80": {}, "[fe80::1%eth0]:80": {}, "[::ffff:127.0.0.1]:80": {}, "[]:80": {}, "dns:///127.0.0.1:80": {},
	} {
		targets, authority, ok := readAddress(address)
		switch {
		case ok != (want.target != nil):
			t.Errorf("%q: %v", address, ok)
		case ok && (authority != want.authority || !reflect.DeepEqual(targets, []syscall.Sockaddr{want.target})):
			t.Errorf("%q: %+v, %q", address, targets[0], authority)
		}
	}
}

// FuzzParseIP holds that what is read as an IP is what package net reads.
func FuzzParseIP(f *testing.F) {
	for _, text := range []string{"127.0.0.1", "1.2.3", "01.2.3.4", "::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8",
		"1::2:3:4:5:6:7:8", "1::2::3", ":::", ":1", "1:", "12345::", "fe80::abcd", "g::", "::ffff:1.2.3.4"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		four, isFour := parseIPv4(text)
		six, isSix := parseIPv6(text)
		want := net.ParseIP(text)
		switch {
		case isFour && !want.Equal(four), isSix && !want.Equal(six):
			t.Errorf("%q: %v %v, want %v", text, four, six, want)
		case want != nil && !isFour && !isSix && !(strings.Contains(text, ":") && strings.Contains(text, ".")):
			t.Errorf("%q is refused", text)
		}
	})
}

func TestLocalhost(t *testing.T) {
	const four, six = "127.0.0.1 localhost\n", "::1\tip6-localhost localhost # loopback\n"
	for hosts, want := range map[string]string{
		"": "", "# 127.0.0.1 localhost": "", "127.0.0.1 myhost": "", "localhost": "",
		four: "4", six: "6", four + six: "64", six + "10.0.0.1 other\n" + four + four: "64",
		four + "10.0.0.1 localhost\n": "", "127.0.0.1 LOCALHOST": "",
	} {
		got := ""
		for _, to := range localhost([]byte(hosts), 80) {
			switch to.(type) {
			case *syscall.SockaddrInet4:
				got += "4"
			case *syscall.SockaddrInet6:
				got += "6"
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", hosts, got, want)
		}
	}
}

// TestLocalhostIsNets holds that this machine's localhost is where package net
// connects to.
func TestLocalhostIsNets(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	address := net.JoinHostPort("localhost", strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	targets, _, ok := readAddress(address)
	if !ok {
		hosts, _ := os.ReadFile("/etc/hosts")
		t.Skipf("localhost is left to the ordinary way by\n%s", hosts)
	}
	conn := dial(targets, soon())
	if conn == nil {
		t.Fatal("not connected")
	}
	conn.Close()
}
