//go:build linux || darwin

package health

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	grpchealth "google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"github.com/pyplug/pyplug/commands/warm/warmtest"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// soon is a deadline that a working connection never reaches.
func soon() time.Time { return time.Now().Add(time.Minute) }

// asked is what a server sees of one question.
type asked struct {
	metadata metadata.MD
	warm     bool // its limit is the warm way's
}

// server is gRPC's own. It notes what it is asked; first, if there is one,
// answers the first question.
type server struct {
	address string

	mu    sync.Mutex
	all   []asked
	first grpc.UnaryHandler
}

func (s *server) intercept(ctx context.Context, req any, _ *grpc.UnaryServerInfo, answer grpc.UnaryHandler) (any, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	deadline, limited := ctx.Deadline()
	s.mu.Lock()
	s.all = append(s.all, asked{md, limited && time.Until(deadline) <= limit})
	if s.first != nil {
		answer, s.first = s.first, nil
	}
	s.mu.Unlock()
	return answer(ctx, req)
}

// take returns what was asked since it was last called.
func (s *server) take() []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.all
	s.all = nil
	return all
}

// serve starts a server; "sick" is NOT_SERVING there. What health is nil does
// not serve it.
func serve(t *testing.T, network, address string, h grpc_health_v1.HealthServer, options ...grpc.ServerOption) *server {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{address: l.Addr().String()}
	if network == "unix" {
		s.address = "unix:" + address
	}
	g := grpc.NewServer(append(options, grpc.UnaryInterceptor(s.intercept))...)
	if h != nil {
		grpc_health_v1.RegisterHealthServer(g, h)
	}
	served := make(chan error, 1)
	go func() { served <- g.Serve(l) }() // ends with Stop
	t.Cleanup(func() {
		g.Stop()
		<-served
	})
	return s
}

func withSick() *grpchealth.Server {
	h := grpchealth.NewServer()
	h.SetServingStatus("sick", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	h.SetServingStatus("fine", grpc_health_v1.HealthCheckResponse_SERVING)
	return h
}

// TestSame holds that the warm way says what the ordinary one does, to which an
// explicit --timeout leads, and that both ask the same.
func TestSame(t *testing.T) {
	runnertest.NothingLeft(t)
	tcp := serve(t, "tcp", "127.0.0.1:0", withSick())
	local := serve(t, "tcp", "localhost:0", withSick())
	unix := serve(t, "unix", filepath.Join(t.TempDir(), "s"), withSick())
	none := serve(t, "tcp", "127.0.0.1:0", nil)
	_, port, _ := net.SplitHostPort(tcp.address)
	_, localPort, _ := net.SplitHostPort(local.address)
	for name, c := range map[string]struct {
		server *server
		warm   bool // what answers
		args   []string
		code   int
	}{
		"serving":         {tcp, true, []string{"--address", tcp.address}, 0},
		"a service":       {tcp, true, []string{"--service", "fine", "-addr=" + tcp.address}, 0},
		"probe codes":     {tcp, true, []string{"--probe-codes", "--address", tcp.address}, 0},
		"no host":         {tcp, true, []string{"--address", ":" + port}, 0},
		"any host":        {tcp, true, []string{"--address", "0.0.0.0:" + port}, 0},
		"localhost":       {local, true, []string{"--address", "localhost:" + localPort}, 0},
		"a socket":        {unix, true, []string{"--address", unix.address}, 0},
		"a socket's URL":  {unix, true, []string{"--address", "unix://" + unix.address[len("unix:"):]}, 0},
		"not serving":     {tcp, false, []string{"--address", tcp.address, "--service", "sick"}, 7},
		"as a probe":      {tcp, false, []string{"--address", tcp.address, "--service", "sick", "--probe-codes"}, 4},
		"no such service": {tcp, false, []string{"--address", tcp.address, "--service", "nope"}, 7},
		"no health":       {none, false, []string{"--address", none.address}, 7},
		"refused":         {nil, false, []string{"--address", "127.0.0.1:1"}, 6},
		"no such socket":  {nil, false, []string{"--address", unix.address + "s"}, 6},
		"no address":      {nil, false, []string{"--address", "nonsense"}, 2},
		"empty":           {nil, false, []string{"--address="}, 2},
		"two addresses":   {nil, false, []string{"--address", "127.0.0.1:1", "--addr", tcp.address}, 2},
		"a plugin too":    {nil, false, []string{"--address", tcp.address, "plugin.py"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"health"}, c.args...)
			var got warmtest.Outcome
			var byWarm []asked
			runnertest.Retry(t, func() error {
				got = warmtest.Run(t, nil, args...)
				if c.server != nil {
					byWarm = c.server.take()
				}
				if c.warm && (len(byWarm) != 1 || !byWarm[0].warm) {
					return fmt.Errorf("asked %+v, want it to be asked by the warm way alone", byWarm)
				}
				return nil
			})
			want := warmtest.Run(t, nil, append(args, "--timeout", "2")...)
			if got != want || got.Code != c.code {
				t.Errorf("%+v, want %+v and code %d", got, want, c.code)
			}
			var ordinary []asked
			if c.server != nil {
				ordinary = c.server.take()
			}
			if c.warm {
				if len(ordinary) != 1 || ordinary[0].warm {
					t.Fatalf("asked %+v", ordinary)
				}
				if !reflect.DeepEqual(byWarm[0].metadata, ordinary[0].metadata) {
					t.Errorf("sent %v, want %v", byWarm[0].metadata, ordinary[0].metadata)
				}
			}
		})
	}
}

// TestLeft holds what leaves a healthy server to the ordinary way.
func TestLeft(t *testing.T) {
	s := serve(t, "tcp", "127.0.0.1:0", withSick())
	for name, c := range map[string]struct {
		env  []string
		args []string
		want string
	}{
		"coloured": {[]string{"FORCE_COLOR=1"}, nil, "\x1b[32mhealthy\x1b[0m\n"},
		"a flag":   {nil, []string{"--color", "always"}, "\x1b[32mhealthy\x1b[0m\n"},
		"ours":     {[]string{"PYPLUG_COLOR=never"}, nil, "healthy\n"},
	} {
		got := warmtest.Run(t, c.env, append([]string{"health", "--address", s.address}, c.args...)...)
		if all := s.take(); got.Stdout != c.want || got.Code != 0 || len(all) != 1 || all[0].warm {
			t.Errorf("%s: %+v, asked %+v", name, got, all)
		}
	}
}

// TestSlow holds that a server which takes too long for the warm way is asked
// again in the ordinary one.
func TestSlow(t *testing.T) {
	s := serve(t, "tcp", "127.0.0.1:0", withSick())
	s.mu.Lock()
	s.first = func(ctx context.Context, _ any) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s.mu.Unlock()
	got := warmtest.Run(t, nil, "health", "--address", s.address)
	if all := s.take(); got != (warmtest.Outcome{Stdout: "healthy\n"}) || len(all) != 2 || !all[0].warm || all[1].warm {
		t.Errorf("%+v, asked %+v", got, all)
	}
}

// TestReaderGone holds that a result nobody reads is left to the ordinary way,
// and is no error there.
func TestReaderGone(t *testing.T) {
	s := serve(t, "tcp", "127.0.0.1:0", withSick())
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	p, err := os.StartProcess(warmtest.Binary(t), []string{"pyplug", "health", "--address", s.address}, &os.ProcAttr{Env: []string{"PATH=/"}, Files: []*os.File{nil, out, nil}})
	out.Close()
	if err != nil {
		t.Fatal(err)
	}
	state, err := p.Wait()
	if err != nil || state.ExitCode() != 0 {
		t.Errorf("%v, %v", state, err)
	}
	if all := s.take(); len(all) != 2 || !all[0].warm || all[1].warm {
		t.Errorf("asked %+v", all)
	}
}

// TestServing asks servers in process: what is not plain is false, at once or
// within the limit, and leaves nothing open.
func TestServing(t *testing.T) {
	runnertest.NothingLeft(t)
	fine := serve(t, "tcp", "127.0.0.1:0", withSick())
	secure := serve(t, "tcp", "127.0.0.1:0", withSick(), grpc.Creds(credentials.NewServerTLSFromCert(certificate(t))))
	for name, c := range map[string]struct {
		address string
		want    bool
	}{
		"fine":         {fine.address, true},
		"TLS":          {secure.address, false},
		"plain":        {say(t, plain["as gRPC for Go"]...), true},
		"padded":       {say(t, plain["padded"]...), true},
		"continued":    {say(t, plain["continued"]...), true},
		"large":        {say(t, plain["most settings"]...), true},
		"ssh":          {say(t, deviating["ssh"]...), false},
		"GOAWAY":       {say(t, deviating["GOAWAY"]...), false},
		"closes early": {say(t), false},
		"closes later": {say(t, hello, head), false},
		"silent":       {silent(t), false},
	} {
		if got := (health{address: c.address}).serving(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestIPv6 asks a server on ::1.
func TestIPv6(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6: ", err)
	}
	l.Close()
	s := serve(t, "tcp", "[::1]:0", withSick())
	if !(health{address: s.address}).serving() {
		t.Error("not asked")
	}
}

// say starts a server that takes one connection, says its steps, and nothing
// more.
func say(t *testing.T, steps ...step) string {
	return listen(t, func(conn net.Conn) {
		_, _ = conn.Write(play(steps...))
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn) // else what it is told would reset the connection
	})
}

// silent starts one that says nothing until it is left.
func silent(t *testing.T) string {
	return listen(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
}

func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // ends with its one connection, or with l
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		serve(conn)
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr().String()
}

// certificate is one that nobody knows.
func certificate(t *testing.T) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
