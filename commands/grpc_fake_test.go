package commands_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The fake Python is this test binary with the name python, in a directory that looks like a venv.
// It runs scripts of simple calls, one per line, that are valid Go and valid Python, and that
// pyplug reads as the text of a gRPC plugin:
//
//	import grpc
//	listen("mute")
//	print("1|1|tcp|$ADDRESS|grpc")
//	hang()
//
// The worst plugins are such scripts: they need no Python, and their timing is exact.

// fakePython implements `fakepython DIR...`: the fake Python runs DIR/plugin.py, a file of the
// testscript.
func fakePython(ts *testscript.TestScript, neg bool, args []string) {
	if runtime.GOOS == "windows" {
		ts.Fatalf("a venv looks different there")
	}
	for _, dir := range args {
		ts.Check(makeFake(ts.MkAbs(dir)))
	}
}

func makeFake(dir string) error {
	venv := filepath.Join(dir, ".venv")
	if err := os.MkdirAll(filepath.Join(venv, "bin"), 0o755); err != nil {
		return err
	}
	cfg := "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.2\n"
	if err := os.WriteFile(filepath.Join(venv, "pyvenv.cfg"), []byte(cfg), 0o644); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return os.Symlink(self, filepath.Join(venv, "bin", "python"))
}

// runFake runs the script in its last argument, as Python does.
func runFake() error {
	if slices.Contains(os.Args, "-c") {
		return errors.New("this python runs scripts alone")
	}
	if err := os.Unsetenv("ADDRESS"); err != nil {
		return err
	}
	script := os.Args[len(os.Args)-1]
	text, err := os.ReadFile(script)
	if err != nil {
		return err
	}
	for n, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || strings.HasPrefix(line, `"""`) || strings.HasPrefix(line, "import ") {
			continue
		}
		if err := perform(line); err != nil {
			return fmt.Errorf("%s:%d: %w", script, n+1, err)
		}
	}
	return nil
}

// perform runs one call of a script.
func perform(line string) error {
	e, err := parser.ParseExpr(line)
	if err != nil {
		return err
	}
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return errors.New("not a call")
	}
	name, ok := call.Fun.(*ast.Ident)
	do := calls[name.Name]
	if !ok || do == nil {
		return fmt.Errorf("no call %s", line)
	}
	text, number := "", 0
	for _, arg := range call.Args {
		switch v := value(arg).(type) {
		case string:
			text = os.ExpandEnv(v)
		case int:
			number = v
		default:
			return fmt.Errorf("no argument %T", arg)
		}
	}
	return do(text, number)
}

// value returns the value of a string, a number, or a string times a number.
func value(e ast.Expr) any {
	switch e := e.(type) {
	case *ast.BasicLit:
		if n, err := strconv.Atoi(e.Value); err == nil {
			return n
		}
		if text, err := strconv.Unquote(e.Value); err == nil {
			return text
		}
	case *ast.BinaryExpr:
		text, isText := value(e.X).(string)
		n, isNumber := value(e.Y).(int)
		if e.Op == token.MUL && isText && isNumber {
			return strings.Repeat(text, n)
		}
	}
	return nil
}

// calls maps the functions of a script to their implementation, with one text and one number as
// arguments.
var calls = map[string]func(text string, n int) error{
	"print": func(text string, _ int) error { _, err := fmt.Println(text); return err },
	"write": func(text string, _ int) error { _, err := fmt.Print(text); return err },
	"warn":  func(text string, _ int) error { _, err := fmt.Fprintln(os.Stderr, text); return err },
	"exit":  func(_ string, n int) error { os.Exit(n); return nil },
	"hang":  func(string, int) error { time.Sleep(time.Hour); return nil },
	"child": func(string, int) error {
		child := exec.Command("sleep", "3600")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		return child.Start()
	},
	"at":          func(address string, _ int) error { return os.Setenv("ADDRESS", address) },
	"touch":       func(path string, _ int) error { return os.WriteFile(path, nil, 0o600) },
	"mark":        func(string, int) error { return mark() },
	"certificate": func(padding string, _ int) error { return makeCertificate(padding) },
	"flood":       flood,
	"listen":      listen,
	"serve":       serve,
}

// flood writes n megabytes without a newline, or endlessly if n is 0.
func flood(_ string, n int) error {
	block := strings.Repeat("x", 1<<20)
	for i := 0; n == 0 || i < n; i++ {
		if _, err := fmt.Print(block); err != nil {
			return err
		}
	}
	return nil
}

// mark creates the file that a test waits for, if there is one.
func mark() error {
	if path := os.Getenv("MARKER"); path != "" {
		return os.WriteFile(path, nil, 0o600)
	}
	return nil
}

// opened is the listener that the last call of listen opened. secure is the TLS configuration of
// serve, or nil.
var (
	opened net.Listener
	secure *tls.Config
)

// listen listens at $ADDRESS, or at a free port if $ADDRESS is empty. kind selects what it serves
// instead of gRPC:
//
//	closed  nothing any more
//	mute    connections without answers
//	ssh     the greeting of another protocol
func listen(kind string, _ int) error {
	address, network := os.Getenv("ADDRESS"), "tcp"
	if filepath.IsAbs(address) {
		network = "unix"
	} else if address == "" {
		address = "127.0.0.1:0"
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	opened = l
	switch kind {
	case "closed":
		l.Close()
	case "mute", "ssh":
		go func() { // ends with the process
			for {
				conn, err := l.Accept()
				if err != nil {
					log.Fatal(err)
				}
				if kind == "ssh" {
					fmt.Fprint(conn, "SSH-2.0-OpenSSH_9.2\r\n")
				}
				if err := mark(); err != nil {
					log.Fatal(err)
				}
				go io.Copy(io.Discard, conn)
			}
		}()
	}
	return os.Setenv("ADDRESS", l.Addr().String())
}

// makeCertificate sets $CERTIFICATE to the text of the sixth field, and makes serve encrypt with it
// for the client in the environment. "=" adds padding.
func makeCertificate(padding string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	var der []byte
	for fits := false; !fits; fits = padding == "" || len(der)%3 > 0 {
		if der, err = x509.CreateCertificate(rand.Reader, template, template, key.Public(), key); err != nil {
			return err
		}
		template.DNSNames = append(template.DNSNames, "xx") // makes its length not a multiple of 3
	}
	secure = &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool(),
	}
	secure.ClientCAs.AppendCertsFromPEM([]byte(os.Getenv("PLUGIN_CLIENT_CERT")))
	encoding := base64.RawStdEncoding
	if padding != "" {
		encoding = base64.StdEncoding
	}
	return os.Setenv("CERTIFICATE", encoding.EncodeToString(der))
}

// foreign implements the command that listens at $FOREIGN in the test's own process.
func foreign(ts *testscript.TestScript, neg bool, args []string) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv("FOREIGN", l.Addr().String())
}
