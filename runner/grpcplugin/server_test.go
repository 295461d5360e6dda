package grpcplugin_test

import (
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
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// newCertificate makes a certificate that vouches for itself, for names or localhost.
func newCertificate(names ...string) (der, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if len(names) == 0 {
		names = []string{"localhost"}
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: names, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if der, err = x509.CreateCertificate(rand.Reader, template, template, private.Public(), private); err != nil {
		return nil, nil, err
	}
	key, err = x509.MarshalPKCS8PrivateKey(private)
	return der, key, err
}

// authority makes such a certificate as files.
func authority(t *testing.T) (cert, key string) {
	t.Helper()
	der, pkcs8, err := newCertificate()
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", pkcs8)
}

// probeAddress asks a server for its health, within a limit if there is one.
func probeAddress(t *testing.T, address string, cfg grpcplugin.Config, limit ...time.Duration) error {
	server, err := grpcplugin.Connect(t.Context(), address, cfg)
	if err != nil {
		return err
	}
	defer server.Close()
	ctx, cancel := hook.WithLimit(t.Context(), append(limit, 0)[0])
	defer cancel()
	return server.Health(ctx)
}

// TestProbeAddressTLS asks a server that wants a certificate of ours.
func TestProbeAddressTLS(t *testing.T) {
	runnertest.NothingLeft(t)
	cert, key := authority(t)
	files := grpcplugin.TLSFiles{CA: cert, Cert: cert, Key: key, ServerName: "localhost"}
	server, err := files.Config()
	if err != nil {
		t.Fatal(err)
	}
	server.ClientAuth, server.ClientCAs = tls.RequireAndVerifyClientCert, server.RootCAs
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(grpc.Creds(credentials.NewTLS(server)))
	grpc_health_v1.RegisterHealthServer(s, health.NewServer())
	go s.Serve(l) // ends by Stop
	defer s.Stop()

	probe := func(f grpcplugin.TLSFiles) error {
		cfg, err := f.Config()
		if err != nil {
			t.Fatal(err)
		}
		return probeAddress(t, l.Addr().String(),
			grpcplugin.Config{TLS: cfg, ConnectTimeout: 2 * time.Second})
	}
	if err := probe(files); err != nil {
		t.Error(err)
	}
	if err := probe(grpcplugin.TLSFiles{NoVerify: true, Cert: cert, Key: key}); err != nil {
		t.Error(err)
	}
	want(t, probe(grpcplugin.TLSFiles{Cert: cert, Key: key}), hook.Handshake, "no TLS with")
	for range 20 { // the server's word and the end of the connection come at once
		e := want(t, probe(grpcplugin.TLSFiles{CA: cert, ServerName: "localhost"}), hook.Handshake, "the server requires a client certificate")
		if e.Reason != grpcplugin.ReasonTLS || len(e.Hints) != 1 {
			t.Fatalf("reason %q, hints %q", e.Reason, e.Hints)
		}
	}
	want(t, probeAddress(t, l.Addr().String(),
		grpcplugin.Config{ConnectTimeout: time.Second}), hook.Handshake, "")
	if _, err := (grpcplugin.TLSFiles{Cert: cert}).Config(); err == nil {
		t.Error("a certificate without its key was taken")
	}
}

// TestProbeAddressNames asks one server by all the names that it has, and takes no
// others.
func TestProbeAddressNames(t *testing.T) {
	runnertest.NothingLeft(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(s, health.NewServer())
	go s.Serve(l) // ends by Stop
	defer s.Stop()
	for _, scheme := range []string{"", "dns:", "dns:///", "passthrough:", "passthrough:///"} {
		if err := probeAddress(t, scheme+l.Addr().String(), grpcplugin.Config{}); err != nil {
			t.Errorf("%s: %v", scheme, err)
		}
	}
	for _, address := range []string{
		"", ":", "host", "host:", "::1", "unix:", "unix://", "dns:", "dns:///host", "dns:///host:", "dns:///",
		"dns://1.1.1.1/host:80", "passthrough:///host", "http://host:80", "ipv4:1.1.1.1:80",
	} {
		want(t, probeAddress(t, address, grpcplugin.Config{}), hook.Usage, "")
	}
}

// TestProbeAddressUnresponsive reports a server that accepts connections only.
func TestProbeAddressUnresponsive(t *testing.T) {
	runnertest.NothingLeft(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for wanted, o := range map[string]grpcplugin.Config{"HTTP/2": {}, "TLS": {TLS: &tls.Config{}}} {
		o.ConnectTimeout = 200 * time.Millisecond
		e := want(t, probeAddress(t, l.Addr().String(), o), hook.Handshake,
			"accepts connections but does not answer within 200ms, want "+wanted)
		if e.Reason != grpcplugin.ReasonNoAnswer {
			t.Errorf("reason %q", e.Reason)
		}
	}
}
