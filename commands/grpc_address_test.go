//go:build linux

package commands_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// healthy serves health, which is SERVING for the server as a whole, and
// NOT_SERVING for the service "sick".
func healthy(t *testing.T, network, address string, options ...grpc.ServerOption) (string, *health.Server) {
	t.Helper()
	h := health.NewServer()
	h.SetServingStatus("sick", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	return serveHealth(t, network, address, h, options...), h
}

func serveHealth(t *testing.T, network, address string, h grpc_health_v1.HealthServer, options ...grpc.ServerOption) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(options...)
	grpc_health_v1.RegisterHealthServer(s, h)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }() // ends with Stop
	t.Cleanup(func() {
		s.Stop()
		<-served
	})
	return l.Addr().String()
}

// certificates makes cert.pem and key.pem of localhost in dir, which is its own
// authority, and returns the pair.
func certificates(t *testing.T, dir string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// health --address probes servers that pyplug does not start.
func TestHealthAddress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pair := certificates(t, dir)
	mutual := &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAnyClientCert}
	plain, _ := healthy(t, "tcp", "127.0.0.1:0")
	socket, _ := healthy(t, "unix", filepath.Join(dir, "socket"))
	secure, _ := healthy(t, "tcp", "127.0.0.1:0", grpc.Creds(credentials.NewServerTLSFromCert(&pair)))
	strict, _ := healthy(t, "tcp", "127.0.0.1:0", grpc.Creds(credentials.NewTLS(mutual)))
	stuck := serveHealth(t, "tcp", "127.0.0.1:0", hanging{})
	none, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and no more
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { none.Close() })
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, c := range map[string]struct {
		flags []string
		code  int
		probe int // with --probe-codes, if not 0
		want  string
	}{
		"serving":          {[]string{"--address", plain}, 0, 0, "^healthy\n$"},
		"a service":        {[]string{"--address", plain, "--service", "sick"}, 7, 4, `the health of the service "sick" is NOT_SERVING, want SERVING`},
		"no such service":  {[]string{"--address", plain, "--service", "nope"}, 7, 3, `not for the service "nope"`},
		"by a resolver":    {[]string{"--address", "dns:///" + plain}, 0, 0, "^healthy\n$"},
		"by none":          {[]string{"-addr", "passthrough:" + plain}, 0, 0, "^healthy\n$"},
		"a header":         {[]string{"--address", plain, "--rpc-header", "tenant: blue"}, 0, 0, "^healthy\n$"},
		"no header":        {[]string{"--address", plain, "--rpc-header", "tenant"}, 2, 0, "want NAME=VALUE or \"NAME: VALUE\""},
		"a flag as value":  {[]string{"--address", plain, "--user-agent", "--probe-codes", "--service", "sick"}, 7, 0, "NOT_SERVING"},
		"of a plugin":      {[]string{"--address", plain, "--start-timeout", "5"}, 2, 0, "--start-timeout does not apply to --address"},
		"TLS with no name": {[]string{"--address", secure, "--tls", "--tls-server-name", ""}, 2, 0, "--tls-server-name is empty"},
		"on a socket":      {[]string{"--address", "unix:" + socket}, 0, 0, "^healthy\n$"},
		"nobody there":     {[]string{"--address", "127.0.0.1:1"}, 6, 2, "error: connect: cannot connect to 127.0.0.1:1: .*connection refused"},
		"no such socket":   {[]string{"--address", "unix:" + socket + "s"}, 6, 0, "cannot connect to unix:.*no such file"},
		"no answer":        {[]string{"--address", none.Addr().String(), "--connect-timeout", "0.3"}, 6, 0, "within 300ms"},
		"hanging":          {[]string{"--address", stuck, "--timeout", "0.3"}, 124, 3, "no answer from the health service within 300ms"},
		"no address":       {[]string{"--address", "nonsense"}, 2, 1, `"nonsense" is neither host:port nor unix:/path`},
		"TLS":              {[]string{"--address", secure, "--tls", "--tls-ca-cert", cert}, 0, 0, "^healthy\n$"},
		"TLS by name":      {[]string{"--address", secure, "--tls", "--tls-ca-cert", cert, "--tls-server-name", "localhost"}, 0, 0, "^healthy\n$"},
		"another name":     {[]string{"--address", secure, "--tls", "--tls-ca-cert", cert, "--tls-server-name", "example"}, 6, 0, "no TLS with .*localhost, not example"},
		"unknown signer":   {[]string{"--address", secure, "--tls"}, 6, 0, "no TLS with .*unknown authority"},
		"not verified":     {[]string{"--address", secure, "--tls", "--tls-no-verify"}, 0, 0, "^healthy\n$"},
		"no TLS":           {[]string{"--address", secure, "--connect-timeout", "0.5"}, 6, 0, "does not speak HTTP/2|TLS"},
		"TLS, and it none": {[]string{"--address", plain, "--tls", "--tls-no-verify"}, 6, 0, "no TLS with "},
		"own certificate":  {[]string{"--address", strict, "--tls", "--tls-ca-cert", cert, "--tls-client-cert", cert, "--tls-client-key", key}, 0, 0, "^healthy\n$"},
		"none of its own":  {[]string{"--address", strict, "--tls", "--tls-ca-cert", cert}, 6, 0, "TLS with .* failed: the server requires a client certificate"},
		"no key":           {[]string{"--address", secure, "--tls", "--tls-client-cert", cert}, 2, 0, "needs both a certificate and a key"},
		"no authority":     {[]string{"--address", secure, "--tls", "--tls-ca-cert", key}, 2, 0, "key.pem: no certificate in PEM"},
		"no file":          {[]string{"--address", secure, "--tls", "--tls-ca-cert", cert + "s"}, 2, 0, "cert.pems: no such file"},
		"TLS by its files": {[]string{"--address", secure, "--cacert", cert}, 0, 0, "^healthy\n$"},
		"TLS not meant":    {[]string{"--address", secure, "--tls=false", "--tls-ca-cert", cert}, 2, 0, "--tls=false cannot"},
		"a plugin too":     {[]string{"--address", plain, "plugin.py"}, 2, 0, "unexpected argument: plugin.py"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.probe != 0 {
				pyplug(t, nil, append([]string{"health", "--probe-codes=true"}, c.flags...)...).says(t, c.probe, c.want)
				return
			}
			pyplug(t, nil, append([]string{"health"}, c.flags...)...).says(t, c.code, c.want)
		})
	}
}

// call and hooks --address ask servers that pyplug does not start.
func TestCallAddress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pair := certificates(t, dir)
	own := []grpc.ServerOption{grpc.UnknownServiceHandler(handle), grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(proto.Name)})}
	plain, _ := healthy(t, "tcp", "127.0.0.1:0", own...)
	socket, _ := healthy(t, "unix", filepath.Join(dir, "socket"), own...)
	strict := &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAnyClientCert}
	secure, _ := healthy(t, "tcp", "127.0.0.1:0", append(own, grpc.Creds(credentials.NewTLS(strict)))...)
	cert, key, file := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "echo.proto")
	source := `syntax = "proto3"; message Text { string text = 1; } service Speech { rpc Echo(Text) returns (Text); rpc Count(Text) returns (stream Text); }`
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"call --address " + plain + " --proto " + file + " Echo text=hello", 0, `^{"text":"hello"}\n$`},
		{"call --address unix:" + socket + " --proto " + file + " --raw Speech/Echo text=hello", 0, "^hello\n$"},
		{"call --proto " + file + " --address " + secure + " --cacert " + cert + " --cert " + cert + " --key " + key + " Echo text=x", 0, `^{"text":"x"}\n$`},
		{"call --proto " + file + " --address " + secure + " --cacert " + cert + " Echo", 6, "(?s)requires a client certificate.*hint: pass a certificate with --cert and --key"},
		{"call --address " + plain + " --cacert nosuch.pem Echo", 2, "TLS: open nosuch.pem"},
		{"call --proto " + file + " --address " + plain + " --tls Echo", 6, "(?s)no TLS with .*hint: pass --tls=false"},
		{"call --address " + plain + " Echo", 4, "no server reflection.*\n(?s).*--proto FILE"},
		{"call --address " + plain + " --proto " + file + " Ecoh", 4, "did you mean Echo"},
		{"call --address " + plain + " --proto " + file + " Echo tex=1", 4, "no field"},
		{"call --address " + plain, 2, "HOOK is missing"},
		{"call --address " + plain + " --auto-start Echo", 2, "--auto-start does not apply to --address"},
		{"call --address " + plain + " --python x Echo", 2, "--python does not apply to --address"},
		{"call --tls greeter greet", 2, "--tls applies only with --address"},
		{"hooks --address " + plain + " --proto " + file, 0, `^Speech/Echo\(text: string\) -> Text`},
		{"hooks --address " + plain + " --proto " + file + " --template Echo", 0, `"text": ""`},
		{"call --address " + plain + " --proto " + file + " Echo --help", 0, "(?m)^  pyplug call --proto=" + file + " --address " + plain + " Speech/Echo --text text$"},
		{"hooks --address " + plain + " a b", 2, "unexpected argument: b"},
		{"hooks --cacert x p.py", 2, "--tls-ca-cert applies only with --address"},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			pyplug(t, nil, strings.Fields(c.line)...).says(t, c.code, c.want)
		})
	}
}

// Variables that set flags of a plugin do not exclude --address.
func TestHealthAddressEnvironment(t *testing.T) {
	t.Parallel()
	address, _ := healthy(t, "tcp", "127.0.0.1:0")
	env := []string{"PYPLUG_START_TIMEOUT=5", "PYPLUG_STOP_TIMEOUT=5", "PYPLUG_TIMEOUT=5"}
	pyplug(t, env, "health", "--address", address).says(t, 0, "^healthy\n$")
}

// The wait for a file of TLS, such as a named pipe, can be interrupted.
func TestHealthAddressInterrupted(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	interruptReading(t, fifo, "health", "--address", "127.0.0.1:1", "--tls", "--tls-ca-cert", fifo)
}

// --watch prints every change of a server's health until it is interrupted.
func TestHealthWatch(t *testing.T) {
	t.Parallel()
	address, h := healthy(t, "tcp", "127.0.0.1:0")
	s := pyplug(t, nil, "health", "--watch", "--address", address)
	out := reading(t, s.Cmd)
	lines := bufio.NewReader(out)
	for _, want := range []string{"healthy\n", "unhealthy  the health of the service \"\" is NOT_SERVING, want SERVING\n", "healthy\n"} {
		if got, err := lines.ReadString('\n'); got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
		status := grpc_health_v1.HealthCheckResponse_SERVING
		if strings.HasPrefix(want, "healthy") {
			status = grpc_health_v1.HealthCheckResponse_NOT_SERVING
		}
		h.SetServingStatus("", status)
	}
	if err := s.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	s.ends(t, 130)
}
