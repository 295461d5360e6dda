package stock_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/check/stock"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/runnertest"
)

const (
	// hostWord is the argument that makes this test binary the host.
	hostWord = "stock-host"
	// behavior is the environment variable that makes this test binary one of the behaviors below.
	behavior = "STOCK_TEST_BEHAVIOR"
	// stranger is the variable with the address of a server that does not belong to a plugin.
	stranger = "STOCK_TEST_STRANGER"
)

// tag is in the environment of every process that a test starts, and of no other run of the tests.
var tag = fmt.Sprint("STOCK_TEST_TAG=", os.Getpid())

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == hostWord {
		os.Exit(stock.Main(os.Args[2:], os.Stdout))
	}
	if name := os.Getenv(behavior); name != "" {
		do, ok := behaviors[name]
		if !ok {
			fmt.Fprintln(os.Stderr, "no behavior", name)
			os.Exit(99)
		}
		do()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// request returns a request without a plugin. Its host uses the cookie of the zoo.
func request(t testing.TB, set ...string) stock.Request {
	t.Helper()
	// The race detector would sleep for a second at each exit.
	set = append(set, tag, "GORACE=atexit_sleep_ms=0")
	return stock.Request{
		Host: []string{self(t), hostWord},
		Env:  proc.Environ(os.Environ(), true, set),
		Spec: stock.Spec{CookieKey: "ZOO_COOKIE", CookieValue: "monkey", StartTimeout: time.Minute, Limit: 20 * time.Second, Ping: true},
	}
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// fake returns a request for one of the behaviors.
func fake(t testing.TB, name string) stock.Request {
	t.Helper()
	if _, ok := behaviors[name]; !ok {
		t.Fatalf("no behavior %q", name)
	}
	r := request(t, behavior+"="+name)
	r.Spec.Command = []string{self(t)}
	return r
}

// zoo returns a request for the real Python plugin.
func zoo(t testing.TB, args ...string) stock.Request {
	t.Helper()
	python := runnertest.GRPCIO(t)
	root, err := runnertest.Root()
	if err != nil {
		t.Fatal(err)
	}
	r := request(t, "PYTHONDONTWRITEBYTECODE=1")
	r.Spec.Command = append([]string{python, filepath.Join(root, "testdata", "plugins", "grpc", "zoo.py")}, args...)
	return r
}

// run runs a request, and checks that no process is left.
func run(t *testing.T, r stock.Request) stock.Outcome {
	t.Helper()
	o, err := stock.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", o)
	if left := runnertest.WithEnv(tag); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return o
}

// behaviors are plugins by their name.
var behaviors = map[string]func(){
	"silent": hang,
	"exit": func() {
		fmt.Fprint(os.Stderr, "\nno license\r\n[ERROR] none at all")
		os.Exit(3)
	},
	"exits after the handshake": func() {
		fmt.Println("1|1|tcp|127.0.0.1:1|grpc")
		os.Exit(3)
	},
	"certificate": func() {
		fmt.Printf("1|1|tcp|127.0.0.1:1|grpc|%s\n", certificate())
		hang()
	},
	"stranger": func() {
		fmt.Printf("1|1|tcp|%s|grpc\n", os.Getenv(stranger))
		hang()
	},
	"long line": func() {
		fmt.Println(strings.Repeat("x\x01", 30000))
		hang()
	},
	"floods standard error": func() {
		for i := range 5000 {
			fmt.Fprintf(os.Stderr, "line %d %s\n", i, strings.Repeat("x", 3000))
		}
	},
	"kills its host": func() {
		host, err := os.FindProcess(os.Getppid())
		if err == nil {
			err = host.Kill()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		hang()
	},
	"prints its environment": func() {
		dir, _ := os.Getwd() // if this fails, the empty directory fails the test
		input, err := io.ReadAll(os.Stdin)
		fmt.Fprintln(os.Stderr, "directory", dir)
		fmt.Fprintf(os.Stderr, "input %q %v\n", input, err)
		for _, entry := range os.Environ() {
			name, _, _ := strings.Cut(entry, "=")
			fmt.Fprintln(os.Stderr, "variable", name)
		}
	},
}

// hang waits until the host or the test ends the process.
func hang() { time.Sleep(time.Hour) }

// certificate returns a certificate in the form of a handshake.
func certificate() string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	return base64.RawStdEncoding.EncodeToString(der)
}
