//go:build linux || darwin

package call

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/wire"
)

// fakeDaemon is the socket of a background plugin "p" whose answers are a test's.
type fakeDaemon struct {
	env     []string      // leads pyplug to it
	arrived chan struct{} // something was asked
	closed  chan struct{} // the client has gone

	mu    sync.Mutex
	leave bool          // it closes the connection after its answer
	wait  chan struct{} // what is asked is answered when it is closed; nil: at once
	asked []string      // hook and words
	hails []string      // what the client says of itself
}

// fake starts one in a run directory that this process looks in, too. It says
// answer to what is asked; without one it closes the connection.
func fake(t *testing.T, answer []byte) *fakeDaemon {
	t.Helper()
	base, err := os.MkdirTemp("/tmp", "warm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	dir := filepath.Join(base, "pyplug")
	t.Setenv("PYPLUG_RUN_DIR", dir)
	d := &fakeDaemon{env: []string{"PYPLUG_RUN_DIR=" + dir}, arrived: make(chan struct{}, 10), closed: make(chan struct{}, 10)}
	path, _ := wire.SocketPath(dir, "p")
	if err := wire.MakeDir(dir); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // ends with l and the clients
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			d.serve(conn, answer)
			d.closed <- struct{}{}
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return d
}

func (d *fakeDaemon) serve(conn net.Conn, answer []byte) {
	defer conn.Close()
	r := wire.NewSideReader(conn, 0, wire.ToDaemon)
	for {
		f, err := r.Next()
		if err != nil {
			return
		}
		d.mu.Lock()
		switch f.Type {
		case wire.Hail:
			d.hails = append(d.hails, string(f.Body))
		case wire.Ask:
			hook, words, _ := wire.ParseAsk(f.Body)
			d.asked = append(d.asked, strings.Join(append([]string{hook}, words...), "|"))
		default:
			d.asked = append(d.asked, string(f.Type))
		}
		wait, leave := d.wait, d.leave || answer == nil
		d.mu.Unlock()
		if f.Type != wire.Hail {
			d.arrived <- struct{}{}
			if wait != nil {
				<-wait
			}
			if _, err := conn.Write(answer); err != nil || leave {
				return
			}
		}
	}
}

// take returns what was asked since it was last called.
func (d *fakeDaemon) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	asked := d.asked
	d.asked = nil
	return asked
}

// result is the plain answer.
func result(value string) []byte { return wire.Append(nil, wire.Result, callNumber, []byte(value)) }

// join is one text of several.
func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// TestAnswer holds that a plain result alone is a line, and that all else that
// was sent is left as it came, with the connection open.
func TestAnswer(t *testing.T) {
	runnertest.NothingLeft(t)
	long, tooLong := strings.Repeat("x", maxResult), strings.Repeat("x", maxResult+1)
	for name, c := range map[string]struct {
		answer []byte
		line   string
	}{
		"plain":            {result(`"Hello, World"`), "\"Hello, World\"\n"},
		"a number":         {result("5"), "5\n"},
		"long":             {result(long), long + "\n"},
		"of 4 KB":          {result(long[:4<<10]), long[:4<<10] + "\n"},
		"too long":         {result(tooLong), ""},
		"empty":            {result(""), ""},
		"lines":            {result("[1,\n2]"), ""},
		"carriage return":  {result("[1,\r2]"), ""},
		"a blank":          {result(" 1"), ""},
		"a blank behind":   {result("1 "), ""},
		"another call's":   {wire.Append(nil, wire.Result, 2, []byte("1")), ""},
		"of no call":       {wire.Append(nil, wire.Result, 0, []byte("1")), ""},
		"with more behind": {join(result("1"), wire.Append(nil, wire.End, callNumber)), ""},
		"with a note":      {join(wire.Append(nil, wire.Note, callNumber, []byte(`{"note":"x"}`)), result("1")), ""},
		"another version":  {wire.Append(nil, wire.Other, 0, []byte("v9")), ""},
		"an error":         {wire.Append(nil, wire.Error, callNumber, []byte("{}")), ""},
		"bytes":            {wire.Append(nil, wire.Bytes, callNumber, []byte("aGk=")), ""},
		"an item":          {wire.Append(nil, wire.Item, callNumber, []byte("1")), ""},
		"no item":          {wire.Append(nil, wire.End, callNumber), ""},
		"half a header":    {result("1")[:5], ""},
		"half a result":    {result(`"Hello"`)[:12], ""},
		"nearly all":       {result(long)[:maxResult+8], ""},
		"garbage":          {[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), ""},
		"zeros":            {make([]byte, 100), ""},
		"claims much":      {[]byte("\xff\xff\xff\xffR\x01\x00\x00\x00"), ""},
		"silence":          {[]byte{}, ""},
		"closes":           {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := fake(t, c.answer)
			line, left := hookCall{"p", "greet", []string{"World", "", "n=2"}}.answer()
			if left == nil {
				t.Fatal("nothing is left")
			}
			if string(line) != c.line {
				t.Errorf("%d bytes, %.40q, want %.40q", len(line), line, c.line)
			}
			if asked := d.take(); !reflect.DeepEqual(asked, []string{"greet|World||n=2"}) {
				t.Errorf("asked %q", asked)
			}
			if len(d.hails) != 1 || d.hails[0] != wire.Build() {
				t.Errorf("it said that it is %q", d.hails)
			}
			// What was not read yet can be read from the connection.
			file := os.NewFile(uintptr(left.Conn), "left")
			conn, err := net.FileConn(file)
			if err != nil {
				t.Fatal(err)
			}
			file.Close()
			rest := make([]byte, len(c.answer)-len(left.Read))
			if _, err := io.ReadFull(conn, rest); err != nil || !bytes.Equal(join(left.Read, rest), c.answer) {
				t.Errorf("%d and %d bytes are left, %v, want %d", len(left.Read), len(rest), err, len(c.answer))
			}
			conn.Close()
			receive(t, d.closed, "the end of the connection")
			left.Conn, left.Read = 0, nil
			if want := (&wire.Left{Call: callNumber, Name: "p", Hook: "greet", Words: []string{"World", "", "n=2"}}); !reflect.DeepEqual(left, want) {
				t.Errorf("left %+v, want %+v", left, want)
			}
		})
	}
}

// TestNothingSent holds what is left without a trace.
func TestNothingSent(t *testing.T) {
	runnertest.NothingLeft(t)
	d := fake(t, result("1"))
	dir := wire.RunDirs()[0]
	for name, c := range map[string]struct {
		call   hookCall
		before func() error
	}{
		"no such name":    {hookCall{name: "q", hook: "h"}, nil},
		"too long a name": {hookCall{name: strings.Repeat("q", 200), hook: "h"}, nil},
		"a NUL":           {hookCall{name: "p", hook: "h", words: []string{"a\x00"}}, nil},
		"a stale socket": {hookCall{name: "stale", hook: "h"}, func() error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "stale.sock"), Net: "unix"})
			if err != nil {
				return err
			}
			l.SetUnlinkOnClose(false)
			return l.Close()
		}},
		"a file": {hookCall{name: "file", hook: "h"}, func() error {
			return os.WriteFile(filepath.Join(dir, "file.sock"), nil, 0o600)
		}},
		"others may look in": {hookCall{name: "p", hook: "h"}, func() error { return os.Chmod(dir, 0o755) }},
		"a link": {hookCall{name: "p", hook: "h"}, func() error {
			if err := os.Rename(dir, dir+"-moved"); err != nil {
				return err
			}
			return os.Symlink(dir+"-moved", dir)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.before != nil {
				if err := c.before(); err != nil {
					t.Fatal(err)
				}
			}
			if line, left := c.call.answer(); line != nil || left != nil {
				t.Errorf("%q, %+v", line, left)
			}
			if asked := d.take(); asked != nil {
				t.Errorf("asked %q", asked)
			}
			// As it was, for whichever is next.
			if _, err := os.Lstat(dir + "-moved"); err == nil {
				os.Remove(dir)
				os.Rename(dir+"-moved", dir)
			}
			os.Chmod(dir, 0o700)
		})
	}
}

func TestReadCall(t *testing.T) {
	for line, want := range map[string]hookCall{
		"p greet":            {"p", "greet", []string{}},
		"p greet World":      {"p", "greet", []string{"World"}},
		"p-1_x a.b =-x :=1 ": {"p-1_x", "a.b", []string{"=-x", ":=1", ""}},
		"p greet a=@x @x n@": {"p", "greet", []string{"a=@x", "@x", "n@"}},
		"0 KV/Put key=1":     {"0", "KV/Put", []string{"key=1"}},
		"p":                  {}, "": {}, "p.py greet": {}, "./p greet": {}, "P greet": {}, "_p greet": {}, "-p greet": {},
		"p --json greet": {}, "p greet --json": {}, "p greet -5": {}, "p greet --": {}, "--timeout 1 p greet": {},
		"p greet t@=file": {}, "p greet t:=@file": {}, "p greet x=t@=f": {}, " greet": {}, "p -": {},
	} {
		got, ok := readCall(strings.Split(line, " "))
		if ok != (want.name != "") || ok && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v, want %+v", line, got, ok, want)
		}
	}
}

// FuzzPlainResult holds that a line is the body of the one frame that came.
func FuzzPlainResult(f *testing.F) {
	f.Add(result(`"Hello"`))
	f.Add(join(result("1"), result("2")))
	f.Add(result("")[:5])
	f.Add(wire.Append(nil, wire.Error, callNumber, []byte("{}")))
	f.Fuzz(func(t *testing.T, read []byte) {
		line := plainResult(read)
		r := wire.NewSideReader(bytes.NewReader(read), 0, wire.FromDaemon)
		frame, err := r.Next()
		plain := err == nil && frame.Type == wire.Result && frame.Call == callNumber && len(read) == wire.HeaderSize+len(frame.Body)
		switch {
		case line != nil && (!plain || string(line) != string(frame.Body)+"\n" || bytes.Count(line, []byte("\n")) != 1):
			t.Errorf("%q is printed as %q", read, line)
		case line == nil && plain && len(frame.Body) > 0 && len(frame.Body) <= maxResult && !bytes.ContainsAny(frame.Body, "\r\n\t\v\f ") && frame.Body[0] > ' ' && frame.Body[len(frame.Body)-1] > ' ':
			t.Errorf("%q is not printed", read)
		}
	})
}
