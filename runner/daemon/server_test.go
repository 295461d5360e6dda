//go:build unix

package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/wire"
)

// What is there while a name is served, and nothing after it.
func TestFiles(t *testing.T) {
	dir := nothingLeft(t)
	d := start(t, newFake(), Options{})
	want := []string{"p.json", "p.lock", "p.log", "p.sock"}
	if got := files(t, dir); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for name, mode := range map[string]os.FileMode{"": 0o700, "p.sock": 0o600, "p.json": 0o600, "p.lock": 0o600, "p.log": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%q: %v, %v, want %v", name, info.Mode(), err, mode)
		}
	}
	entries, err := list(dir)
	if err != nil || len(entries) != 1 || entries[0].Identity.PID != os.Getpid() {
		t.Errorf("listed %+v, %v", entries, err)
	}
	d.stop()
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
	_, err = Open(context.Background(), "p")
	var none *NotRunningError
	if !errors.As(err, &none) || kindOf(t, err) != hook.Unavailable {
		t.Errorf("got %v, want that nothing runs", err)
	}
}

// list is List of one directory: in the other may be who knows whose.
func list(dir string) ([]Entry, error) {
	entries, err := List(context.Background())
	return slices.DeleteFunc(entries, func(e Entry) bool { return filepath.Dir(e.Identity.Socket) != dir }), err
}

// Of many who want a name at once one has it.
func TestManyListen(t *testing.T) {
	dir := nothingLeft(t)
	var work sync.WaitGroup
	won, lost := make(chan *Server, 50), make(chan error, 50)
	for range 50 {
		work.Go(func() {
			s, err := Listen(Identity{Name: "p", Entry: "/x/p.py"}, Options{})
			if err != nil {
				lost <- err
				return
			}
			won <- s
		})
	}
	work.Wait()
	if len(won) != 1 {
		t.Fatalf("%d have the name, want 1", len(won))
	}
	for range len(lost) {
		var taken *TakenError
		if err := <-lost; !errors.As(err, &taken) || taken.By.PID != os.Getpid() || kindOf(t, err) != hook.Usage {
			t.Errorf("got %v, want that it is taken", err)
		}
	}
	(<-won).Tell(errors.New("enough"))
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

// What a dead daemon left does not hinder the next, and is not taken for one that
// is alive.
func TestStale(t *testing.T) {
	dir := nothingLeft(t)
	if err := wire.MakeDir(dir); err != nil {
		t.Fatal(err)
	}
	litter := func() {
		// A socket that nobody listens on, as kill -9 leaves it.
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "p.sock"), Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		_ = l.Close()
		for name, text := range map[string]string{"p.lock": "", "p.json": `{"name":"p","pid":1}`, "p.json.123": "{", "p.log": "x\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	litter()
	if _, err := Open(context.Background(), "p"); kindOf(t, err) != hook.Unavailable {
		t.Errorf("opened what is dead: %v", err)
	}
	if entries, err := list(dir); err != nil || len(entries) != 0 {
		t.Errorf("listed %v, %v", entries, err)
	}
	if got := files(t, dir); !slices.Equal(got, []string{"p.log"}) {
		t.Errorf("left %v, want the log", got)
	}
	_ = os.Remove(filepath.Join(dir, "p.log"))
	litter()
	d := start(t, newFake(), Options{})
	if _, err := open(t).Status(context.Background()); err != nil {
		t.Error(err)
	}
	d.stop()
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

// A directory that somebody else could have made is not used.
func TestDirectories(t *testing.T) {
	for name, make := range map[string]func(dir string) error{
		"mode":    func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o755)) },
		"symlink": func(dir string) error { return errors.Join(os.Mkdir(dir+"2", 0o700), os.Symlink(dir+"2", dir)) },
		"file":    func(dir string) error { return os.WriteFile(dir, nil, 0o700) },
		"owner": func(dir string) error {
			if os.Geteuid() != 0 {
				return errors.ErrUnsupported
			}
			return errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 12345, 12345))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := nothingLeft(t)
			if err := make(dir); errors.Is(err, errors.ErrUnsupported) {
				t.Skip("only root can give a directory away")
			} else if err != nil {
				t.Fatal(err)
			}
			var bad *wire.DirError
			if _, err := Listen(Identity{Name: "p"}, Options{}); !errors.As(err, &bad) || kindOf(t, err) != hook.Unavailable {
				t.Errorf("listen: %v", err)
			}
			if _, err := Open(context.Background(), "p"); !errors.As(err, &bad) {
				t.Errorf("open: %v", err)
			}
			if _, err := List(context.Background()); !errors.As(err, &bad) {
				t.Errorf("list: %v", err)
			}
		})
	}
}

// A name that is too long for one directory is put into the next.
func TestLongPath(t *testing.T) {
	nothingLeft(t)
	base := filepath.Dir(os.Getenv("PYPLUG_RUN_DIR"))
	long := filepath.Join(base, strings.Repeat("d", 80-len(base)))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Run("of two", func(t *testing.T) { // nothing is made: the second is the user's own
		t.Setenv("PYPLUG_RUN_DIR", "")
		t.Setenv("XDG_RUNTIME_DIR", long)
		for name, want := range map[string]int{"p": 2, strings.Repeat("n", 30): 1} {
			all, err := places(name)
			if err != nil || len(all) != want || want == 1 && all[0].dir == filepath.Join(long, "pyplug") {
				t.Errorf("%s: %+v, %v, want %d", name, all, err, want)
			}
		}
	})
	var tooLong *LongPathError
	name := strings.Repeat("n", 100)
	path := filepath.Join(base, "pyplug", name) + ".sock"
	_, err := Listen(Identity{Name: name}, Options{})
	want := fmt.Sprintf("%s is too long for the path of a socket: it has %d bytes, want at most 103", path, len(path))
	if !errors.As(err, &tooLong) || kindOf(t, err) != hook.Usage || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for _, name := range []string{"", "A", "../x", "a/b", "-a"} {
		if _, err := Listen(Identity{Name: name}, Options{}); kindOf(t, err) != hook.Usage {
			t.Errorf("%q: got %v, want that it is no name", name, err)
		}
	}
}

// stuck is a client that does not keep to the protocol, or does not read.
func stuck(t *testing.T, frames ...[]byte) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", filepath.Join(os.Getenv("PYPLUG_RUN_DIR"), "p.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := c.Write(slices.Concat(frames...)); err != nil {
		t.Fatal(err)
	}
	return c
}

func hail() []byte { return wire.Append(nil, wire.Hail, 0, []byte(wire.Build())) }

// readAll are the frames that come until the connection is over, which it has to be
// soon.
func readAll(t *testing.T, c net.Conn) (frames []wire.Frame) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(runnertest.WaitTimeout))
	r := wire.NewSideReader(c, 0, wire.FromDaemon)
	for {
		f, err := r.Next()
		var late net.Error
		if errors.As(err, &late) && late.Timeout() {
			t.Fatalf("the connection is still open, after %v", frames)
		}
		if err != nil {
			return frames
		}
		frames = append(frames, f)
	}
}

// A client that does not keep to the protocol is dropped, and no other minds.
func TestWrongFrames(t *testing.T) {
	nothingLeft(t)
	start(t, newFake(), Options{})
	good := open(t)
	ask := func(n uint32, hook string) []byte {
		b, _ := wire.AppendAsk(nil, n, hook, nil)
		return b
	}
	for name, frames := range map[string][][]byte{
		"no greeting":     {ask(1, "echo")},
		"two greetings":   {hail(), hail()},
		"text":            {[]byte("GET / HTTP/1.1\r\n\r\n")},
		"a worker's":      {hail(), wire.Append(nil, wire.Load, 0)},
		"number 0":        {hail(), ask(0, "echo")},
		"a number twice":  {hail(), ask(1, "block"), ask(1, "block")},
		"no words":        {hail(), wire.Append(nil, wire.Ask, 1, []byte("echo"))},
		"no JSON":         {hail(), wire.Append(nil, wire.Call, 1, []byte("{"))},
		"no number":       {hail(), ask(1, "block"), wire.Append(nil, wire.Credit, 1, []byte("ab"))},
		"input unasked":   {hail(), ask(1, "block"), wire.Append(nil, wire.Item, 1, []byte("1"))},
		"too much input":  {hail(), wire.Append(nil, wire.Call, 1, []byte(`{"hook":"block","input":true}`)), wire.Append(nil, wire.Item, 1, make([]byte, 200_000)), wire.Append(nil, wire.Item, 1, make([]byte, 200_000))},
		"impossible long": {hail(), []byte("\xff\xff\xff\xffC\x01\x00\x00\x00")},
	} {
		for _, f := range readAll(t, stuck(t, frames...)) {
			if f.Type == wire.Result {
				t.Errorf("%s: got a result", name)
			}
		}
	}
	if _, err := good.Status(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestOtherVersion(t *testing.T) {
	dir := nothingLeft(t)
	d := start(t, newFake(), Options{})
	ask, _ := wire.AppendAsk(nil, 1, "echo", nil)
	got := readAll(t, stuck(t, wire.Append(nil, wire.Hail, 0, []byte("other")), ask))
	if len(got) != 1 || got[0].Type != wire.Other || string(got[0].Body) != "1.0" {
		t.Errorf("got %v, want the version", got)
	}
	c, err := Look(context.Background(), "p")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Status(context.Background()); err != nil {
		t.Errorf("status of another version: %v", err)
	}
	var other *VersionError
	if _, err := c.Call(context.Background(), hook.Call{Hook: "echo"}); !errors.As(err, &other) || other.Daemon != "1.0" {
		t.Errorf("call: %v", err)
	} else if e := (*hook.Error)(nil); !errors.As(err, &e) || e.Hook != "" || e.Begun {
		t.Errorf("call: %+v, want no hook, which was not called", e)
	}
	p := place{dir, "p", filepath.Join(dir, "p.sock")}
	id := d.Identity()
	id.Build = "another"
	if err := p.writeState(id); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), "p"); !errors.As(err, &other) || kindOf(t, err) != hook.Unavailable {
		t.Errorf("open: %v", err)
	}
	again, err := Look(context.Background(), "p")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// Builds that have the same version are told apart by when they were made.
func TestVersionError(t *testing.T) {
	size, at := int64(0), int64(0)
	if n, err := fmt.Sscanf(wire.Build(), "devel %d %d", &size, &at); n != 2 {
		t.Fatal(wire.Build(), err)
	}
	ours := time.Unix(0, at)
	before := fmt.Sprintf("devel 1 %d", ours.Add(-time.Hour).UnixNano())
	for build, want := range map[string]string{
		"": "p was started by another pyplug, devel", "v1.2": "p was started by another pyplug, devel", "devel 1 x": "p was started by another pyplug, devel",
		fmt.Sprintf("devel 1 %d", at): "p was started by another pyplug, devel of another build",
		before: "p was started by another pyplug, devel built " + ours.Add(-time.Hour).Format(time.DateTime) +
			", and this one was built " + ours.Format(time.DateTime),
	} {
		if got := (&VersionError{Name: "p", Daemon: "devel", Build: build}).Error(); got != want {
			t.Errorf("%q: %s, want %s", build, got, want)
		}
	}
	if e := (Identity{Name: "p", PID: 1, Build: wire.Build()}).Other(); e != nil {
		t.Errorf("our own is another: %v", e)
	}
	if e := (Identity{Name: "p", PID: 1, Build: before, Version: "devel"}).Other(); e == nil || e.Build != before {
		t.Errorf("another is our own: %v", e)
	}
}

// A client that reads nothing keeps its own call alone.
func TestSlowReader(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	sent := make(chan int, 1)
	f.hooks["stream"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		n := 0
		for {
			if err := c.Emit(hook.Item{Value: make([]byte, 1000)}); err != nil {
				sent <- n
				return hook.Result{}, &hook.Error{Kind: hook.Canceled, Begun: true, Err: err}
			}
			n++
		}
	}
	start(t, f, Options{})
	ask, _ := wire.AppendAsk(nil, 1, "stream", nil)
	slow := stuck(t, hail(), ask)
	c := open(t)
	for range 100 {
		if _, err := c.Call(context.Background(), hook.Call{Hook: "echo", Args: hook.Args{JSON: []byte("[]")}}); err != nil {
			t.Fatal(err)
		}
	}
	_ = slow.Close()
	if n := <-sent; n > wire.Window/1000+1 {
		t.Errorf("%d items were sent to who reads none", n)
	}
}

// The death of a client ends its calls alone.
func TestClientDies(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	why := make(chan error, 1)
	began := make(chan struct{})
	f.hooks["wait"] = func(ctx context.Context, c hook.Call) (hook.Result, error) {
		close(began)
		<-ctx.Done()
		why <- context.Cause(ctx)
		return hook.Result{}, hook.Ended(ctx, c.Hook, "no result", testBegan, true)
	}
	start(t, f, Options{})
	ask, _ := wire.AppendAsk(nil, 1, "wait", nil)
	dead := stuck(t, hail(), ask)
	<-began
	_ = dead.Close()
	if err := <-why; !errors.Is(err, errGone) {
		t.Errorf("the call was ended by %v", err)
	}
	if _, err := open(t).Status(context.Background()); err != nil {
		t.Error(err)
	}
}
