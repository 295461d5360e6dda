package handshake

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"math/big"
	"net/netip"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

const good = "1|1|tcp|127.0.0.1:4410|grpc"

// certificate returns a certificate in DER whose base64 would need padding.
func certificate(t testing.TB) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	for { // the length of a signature varies
		der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		if len(der)%3 != 0 {
			return der
		}
	}
}

func TestParse(t *testing.T) {
	der := certificate(t)
	bare, padded := base64.RawStdEncoding.EncodeToString(der), base64.StdEncoding.EncodeToString(der)
	for _, c := range []struct{ name, line, want, notes, fail string }{
		{"ordinary", good + "\n", good, "", ""},
		{"netrpc by default", "1|2|unix|/tmp/s", "1|2|unix|/tmp/s", "", ""},
		{"carriage return", good + "\r\n", good, "there are blanks or a carriage return around the line", ""},
		{"blanks", "  " + good + " \n", good, "there are blanks or a carriage return around the line", ""},
		{"certificate", good + "|" + bare, good + "|" + bare, "", ""},
		{"padded certificate", good + "|" + padded, good + "|" + bare, "refused: the certificate is padded base64", ""},
		{"empty certificate", good + "|", good, "", ""},
		{"short certificate", good + "|abc", good, "the certificate is too short to be one (3 characters)", ""},
		{"multiplexing", good + "||true", good, "", ""},
		{"not multiplexing", good + "||false", good, "", ""},
		{"neither", good + "||maybe", good, "", ""},
		{"eight fields", good + "|||x", good, "", ""},
		{"a plus", "+1|01|tcp|127.0.0.1:1|grpc", "1|1|tcp|127.0.0.1:1|grpc", "", ""},
		{"empty", "", "", "", "the line is empty, expected CORE|APP|NETWORK|ADDRESS|PROTOCOL"},
		{"blank", " \r\n", "", "*", "the line is empty, expected CORE|APP|NETWORK|ADDRESS|PROTOCOL"},
		{"noise", "loading", "", "", "the line has one field, expected CORE|APP|NETWORK|ADDRESS|PROTOCOL"},
		{"two fields", "1|invalid", "", "", "the line has 2 fields, expected CORE|APP|NETWORK|ADDRESS|PROTOCOL"},
		{"three fields", "1|1|tcp", "", "", "the line has 3 fields, expected CORE|APP|NETWORK|ADDRESS|PROTOCOL"},
		{"core", "one|1|tcp|127.0.0.1:1|grpc", "", "", `field 1 (core version) is "one", expected 1`},
		{"no core", "|1|tcp|127.0.0.1:1|grpc", "", "", `field 1 (core version) is missing, expected 1`},
		{"after a level", "INFO " + good, "", "", `field 1 (core version) is "INFO 1", expected 1`},
		{"a mark of byte order", "\ufeff" + good, "", "", `field 1 (core version) is "\ufeff1", expected 1`},
		{"coloured", "\x1b[32m" + good + "\x1b[0m", "", "", `field 1 (core version) is "\x1b[32m1", expected 1`},
		{"blanks between", "1 | 1 | tcp | x | grpc", "", "", `field 1 (core version) is "1 ", expected 1`},
		{"app", "1|plugin|tcp|127.0.0.1:1|grpc", "", "", `field 2 (app version) is "plugin", expected a number`},
		{"no app", "1||tcp|127.0.0.1:1|grpc", "", "", `field 2 (app version) is missing, expected a number`},
		{"url base64", good + "|" + strings.Repeat("-_", 30), "", "", `field 6 (certificate) is "` + strings.Repeat("-_", 30) + `", expected standard base64`},
		{"no certificate", good + "|" + strings.Repeat("QUJD", 30), "", "", "field 6 (certificate) is 120 characters, expected an X.509 certificate in DER"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := Parse(c.line)
			if fail := text(t, err); fail != c.fail {
				t.Fatalf("got %s; want %s", fail, c.fail)
			}
			var notes []string
			for _, n := range l.Notes {
				if n.Refused {
					n.Text = "refused: " + n.Text
				}
				notes = append(notes, n.Text)
			}
			if got := strings.Join(notes, ", "); got != c.notes && c.notes != "*" {
				t.Errorf("notes %q, want %q", got, c.notes)
			}
			if err == nil && l.String() != c.want {
				t.Errorf("got %q, want %q", l, c.want)
			}
		})
	}
}

func TestParseFields(t *testing.T) {
	der := certificate(t)
	bare := base64.RawStdEncoding.EncodeToString(der)
	l, err := Parse("1|6|tcp|[::1]:4410|grpc|" + bare + "|true\n")
	l.text = ""
	want := Line{Core: 1, App: 6, Network: "tcp", Address: "[::1]:4410", Protocol: "grpc", Cert: der}
	if err != nil || !reflect.DeepEqual(l, want) {
		t.Errorf("got %+v, %v", l, err)
	}
}

// text returns the message of err, which must be an *Error.
func text(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var wrong *Error
	if !errors.As(err, &wrong) {
		t.Fatalf("%T: %v", err, err)
	}
	return err.Error()
}

func TestVerify(t *testing.T) {
	cert := "|" + base64.RawStdEncoding.EncodeToString(certificate(t))
	const (
		name     = "an IP address, not a name, such as 127.0.0.1:4410"
		loopback = "a loopback address, such as 127.0.0.1:4410"
		both     = "an IP address and a port, such as 127.0.0.1:4410 or [::1]:4410"
	)
	for _, c := range []struct {
		line string
		want Want
		fail string
	}{
		{good, Want{}, ""},
		{good, Want{Versions: []int{2, 1}}, ""},
		{good + cert, Want{TLS: true}, ""},
		{"1|1|tcp|127.8.8.8:1|grpc", Want{}, ""},
		{"1|1|tcp|[::1]:65535|grpc", Want{}, ""},
		{"1|1|tcp|[::ffff:127.0.0.1]:1|grpc", Want{}, ""},
		{"2|1|tcp|127.0.0.1:1|grpc", Want{}, `field 1 (core version) is 2, expected 1`},
		{"1|3|tcp|127.0.0.1:1|grpc", Want{Versions: []int{1}}, `field 2 (app version) is 3, expected 1`},
		{"1|3|tcp|127.0.0.1:1|grpc", Want{Versions: []int{1, 2}}, `field 2 (app version) is 3, expected 1 or 2`},
		{"1|-3|tcp|127.0.0.1:1|grpc", Want{Versions: []int{1, 2, 5}}, `field 2 (app version) is "-3", expected 1 or 2 or 5`},
		{"1|1|udp|127.0.0.1:1|grpc", Want{}, `field 3 (network) is "udp", expected "tcp" or "unix"`},
		{"1|1|TCP|127.0.0.1:1|grpc", Want{}, `field 3 (network) is "TCP", expected "tcp" or "unix"`},
		{"1|1|tcp|localhost:4410|grpc", Want{}, `field 4 (address) is "localhost:4410", expected ` + name},
		{"1|1|tcp|0.0.0.0:4410|grpc", Want{}, `field 4 (address) is "0.0.0.0:4410", expected ` + loopback},
		{"1|1|tcp|[::]:4410|grpc", Want{}, `field 4 (address) is "[::]:4410", expected ` + loopback},
		{"1|1|tcp|169.254.169.254:80|grpc", Want{}, `field 4 (address) is "169.254.169.254:80", expected ` + loopback},
		{"1|1|tcp|[::ffff:10.0.0.1]:80|grpc", Want{}, `field 4 (address) is "[::ffff:10.0.0.1]:80", expected ` + loopback},
		{"1|1|tcp|:4410|grpc", Want{}, `field 4 (address) is ":4410", expected ` + name},
		{"1|1|tcp|127.1:4410|grpc", Want{}, `field 4 (address) is "127.1:4410", expected ` + name},
		{"1|1|tcp|::1:4410|grpc", Want{}, `field 4 (address) is "::1:4410", expected ` + both},
		{"1|1|tcp|4410|grpc", Want{}, `field 4 (address) is 4410, expected ` + both},
		{"1|1|tcp||grpc", Want{}, `field 4 (address) is missing, expected ` + both},
		{"1|1|tcp|127.0.0.1|grpc", Want{}, `field 4 (address) is "127.0.0.1", expected ` + both},
		{"1|1|tcp|127.0.0.1:0|grpc", Want{}, `field 4 (address) is "127.0.0.1:0", expected a port from 1 to 65535`},
		{"1|1|tcp|127.0.0.1:65536|grpc", Want{}, `field 4 (address) is "127.0.0.1:65536", expected a port from 1 to 65535`},
		{"1|1|tcp|127.0.0.1:http|grpc", Want{}, `field 4 (address) is "127.0.0.1:http", expected a port from 1 to 65535`},
		{"1|1|unix|plugin.sock|grpc", Want{}, `field 4 (address) is "plugin.sock", expected an absolute path`},
		{"1|1|unix|@plugin|grpc", Want{}, `field 4 (address) is "@plugin", expected an absolute path`},
		{"1|1|unix|unix:///tmp/s|grpc", Want{}, `field 4 (address) is "unix:///tmp/s", expected an absolute path`},
		{"1|1|tcp|127.0.0.1:1|netrpc", Want{}, `field 5 (protocol) is "netrpc", expected "grpc"`},
		{"1|1|tcp|127.0.0.1:1|gRPC", Want{}, `field 5 (protocol) is "gRPC", expected "grpc"`},
		{"1|1|tcp|127.0.0.1:1", Want{}, `field 5 (protocol) is missing, expected "grpc"`},
		{good, Want{TLS: true}, `field 6 (certificate) is missing, expected a certificate, because TLS was requested`},
	} {
		l, err := Parse(c.line)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		err = l.Verify(c.want)
		if fail := text(t, err); fail != c.fail {
			t.Errorf("%s: got %s; want %s", c.line, fail, c.fail)
		}
	}
}

// TestResolve checks that localhost, and no other name, resolves as in a go-plugin host.
func TestResolve(t *testing.T) {
	for _, c := range []struct{ address, found, want string }{
		{"localhost:4410", "::1 127.0.0.1", "127.0.0.1:4410"},
		{"LocalHost:4410", "127.0.0.2 127.0.0.1", "127.0.0.2:4410"},
		{"localhost:4410", "::1", "[::1]:4410"},
		{"localhost:4410", "::ffff:127.0.0.1", "127.0.0.1:4410"},
		{"localhost:4410", "::1 10.0.0.1", `field 4 (address) is "localhost:4410", expected a name of a loopback address; it is one of 10.0.0.1`},
		{"localhost:4410", "", `field 4 (address) is "localhost:4410", expected an IP address, or a name that can be resolved`},
		{"localhost", "127.0.0.1", "localhost"},
		{"example.com:4410", "127.0.0.1", "example.com:4410"},
	} {
		l, err := Parse("1|1|tcp|" + c.address + "|grpc")
		if err != nil {
			t.Fatal(err)
		}
		err = l.Resolve(func(string) (found []netip.Addr, err error) {
			for _, ip := range strings.Fields(c.found) {
				found = append(found, netip.MustParseAddr(ip))
			}
			return found, nil
		})
		got := l.Address
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s, found %q: got %s, want %s", c.address, c.found, got, c.want)
		}
	}
}

func TestVerifyCertificateUnasked(t *testing.T) {
	l, err := Parse(good + "|" + base64.RawStdEncoding.EncodeToString(certificate(t)))
	if err != nil {
		t.Fatal(err)
	}
	if fail := text(t, l.Verify(Want{})); !strings.HasSuffix(fail, " characters, expected none, because TLS was not requested") {
		t.Error(fail)
	}
}

func TestVerifySocket(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has other absolute paths")
	}
	longest := "/tmp/" + strings.Repeat("x", MaxSocket()-len("/tmp/"))
	for _, c := range []struct {
		path string
		dirs []string
		want string
	}{
		{"/tmp/plugin123", nil, ""},
		{longest, nil, ""},
		{"/tmp/é", nil, ""},
		{"/run/a/s", []string{"/tmp", "/run/a"}, ""},
		{"/run/a/b/s", []string{"/run/a/"}, ""},
		{"/run//a/./s", []string{"/run/a"}, ""},
		{longest + "x", nil, "a path of at most "},
		{"/tmp/a\x00b", nil, "a path without a zero byte"},
		{"/run/ab/s", []string{"/run/a"}, "a path in /run/a"},
		{"/run/a", []string{"/run/a"}, "a path in /run/a"},
		{"/etc/s", []string{"/tmp", "/run/a"}, "a path in /tmp or /run/a"},
		{"/run/a/../../etc/s", []string{"/run/a"}, "a path in /run/a"},
		{"/run/a/../a/s", []string{"/run/a"}, "a path in /run/a"},
	} {
		l, err := Parse("1|1|unix|" + c.path + "|grpc")
		if err != nil {
			t.Fatal(err)
		}
		err = l.Verify(Want{Dirs: c.dirs})
		var wrong *Error
		if errors.As(err, &wrong) != (c.want != "") || wrong != nil && !strings.HasPrefix(wrong.Wanted, c.want) {
			t.Errorf("%q: got %v, want %s", c.path, err, c.want)
		}
	}
}

func TestLooks(t *testing.T) {
	for line, want := range map[string]bool{
		good: true, good + "\r\n": true, "  1|1|": true, "1|1": true, "1|invalid": true, "1|": true,
		"1|plugin|tcp|127.0.0.1:1|grpc": true, "1 | 1 | tcp": true, "2|1|tcp|x": true, "1|1|udp|x|http": true,
		"x|1|tcp|127.0.0.1:1|grpc": true, "|1|unix|/s|grpc": true, "\ufeff" + good: true, "INFO " + good: true,
		"\x1b[32m" + good + "\x1b[0m": true, "INFO 1|1|TCP|127.0.0.1:1": true, "a|b|c|d|gRPC": true,
		"": false, "1": false, "loading": false, "|1|1|": false, "2|apples": false, "2|apples|x": false, "2|1": false,
		"1|done|x": false, "12|13|tcp": false, "2|1|": false, "12|34|a": false, "1|a|b|c": false, "7|8|9|10|11": false,
		"45%|████| 45/100": false, "1,1|": false, "12345678901|1|": false, "loading1|1|tcp": false, "٣|1|": false,
	} {
		if got := Looks(line); got != want {
			t.Errorf("%q: got %v", line, got)
		}
	}
}

func TestDrawing(t *testing.T) {
	cert := strings.Repeat("QUJD", 300)
	for _, c := range []struct{ name, line, want string }{
		{"a field", "1|1|tcp|127.0.0.1:4410|netrpc", "1|1|tcp|127.0.0.1:4410|netrpc\n                       ^^^^^^"},
		{"a missing one", "1|1|tcp|127.0.0.1:4410", "1|1|tcp|127.0.0.1:4410\n                      ^"},
		{"an empty one", "1||tcp|127.0.0.1:4410", "1||tcp|127.0.0.1:4410\n  ^"},
		{"the whole line", "1|invalid\r\n", "1|invalid\n^^^^^^^^^"},
		{"escaped", "1|\x1b[1m é\xff|tcp|x|grpc", "1|\\x1b[1m \\u00e9\\xff|tcp|x|grpc\n  ^^^^^^^^^^^^^^^^^^"},
		{"a long field", good + "|" + cert, good + "|" + cert[:72] + "\n" + strings.Repeat(" ", 28) + strings.Repeat("^", 72)},
		{"a long one after", "1|x|tcp|127.0.0.1:4410|grpc|" + cert, "1|x|tcp|127.0.0.1:4410|grpc|" + cert[:72] + "\n  ^"},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := Parse(c.line)
			if err == nil {
				err = l.Verify(Want{})
			}
			var wrong *Error
			if !errors.As(err, &wrong) {
				t.Fatal(err)
			}
			if got := strings.Join(wrong.Drawing(), "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestEnv(t *testing.T) {
	got := Env(Host{CookieKey: "BASIC_PLUGIN", CookieValue: "hello", Versions: []int{1}})
	want := []string{"BASIC_PLUGIN=hello", "PLUGIN_MIN_PORT=10000", "PLUGIN_MAX_PORT=25000", "PLUGIN_PROTOCOL_VERSIONS=1"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	got = Env(Host{Versions: []int{2, 1}, SocketDir: "/d", ClientCert: "PEM"})
	want = []string{"PLUGIN_MIN_PORT=10000", "PLUGIN_MAX_PORT=25000", "PLUGIN_PROTOCOL_VERSIONS=2,1",
		"PLUGIN_CLIENT_CERT=PEM", "PLUGIN_UNIX_SOCKET_DIR=/d"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}

func FuzzParse(f *testing.F) {
	cert := base64.StdEncoding.EncodeToString(certificate(f))
	for _, line := range []string{good, good + "\r\n", good + "|" + cert + "|true", "1|1|unix|/tmp/s|grpc", "1|invalid", "", "\xff|\x1b|é"} {
		f.Add(line)
	}
	f.Add("1|1|tcp|" + strings.Repeat("x", maxDrawing)) // Drawing cuts the line before the fault
	f.Fuzz(func(t *testing.T, line string) {
		l, err := Parse(line)
		if err == nil {
			err = l.Verify(Want{TLS: l.Cert != nil, Dirs: []string{"/tmp"}})
			if err == nil {
				accepted(t, l)
			}
		}
		check(t, err)
	})
}

// accepted checks that an accepted line is safe, and that parsing its canonical form returns the
// same line.
func accepted(t *testing.T, l Line) {
	again, err := Parse(l.String())
	if err != nil || again.String() != l.String() || !bytes.Equal(again.Cert, l.Cert) || again.App != l.App {
		t.Fatalf("%q is read as %q and then as %q, %v", l.text, l, again, err)
	}
	if l.Network == "tcp" && !netip.MustParseAddrPort(l.Address).Addr().Unmap().IsLoopback() {
		t.Fatalf("%q passed", l.Address)
	}
}

// check checks that an error can be formatted.
func check(t *testing.T, err error) {
	var e *Error
	if !errors.As(err, &e) {
		if err != nil {
			t.Fatalf("%T", err)
		}
		return
	}
	if e.Start < 0 || e.Start > e.End || e.End > len(e.Line) || e.Wanted == "" {
		t.Fatalf("%+v", e)
	}
	if len(e.Error()) > 10*maxShown+200 {
		t.Fatalf("a message of %d bytes", len(e.Error()))
	}
	drawing := e.Drawing()
	if len(drawing) == 0 && (e.Line == "" || len(escape(e.Line[:e.Start])) >= maxDrawing) {
		return
	}
	if len(drawing) != 2 || len(drawing[0]) > maxDrawing+10 || len(drawing[1]) > len(drawing[0])+1 ||
		strings.Trim(strings.TrimLeft(drawing[1], " "), "^") != "" || strings.Trim(drawing[0], printable) != "" {
		t.Fatalf("%q", drawing)
	}
}

var printable = func() string {
	var b strings.Builder
	for c := byte(' '); c <= '~'; c++ {
		b.WriteByte(c)
	}
	return b.String()
}()
