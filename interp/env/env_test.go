//go:build unix

package env

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// write makes files in a new directory, and returns the directory.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fakeUV is an installer that logs its commands to uv.log in its directory. `pip install` runs the
// commands in FAKE_UV, then writes its arguments to a file in the environment.
const fakeUV = `#!/bin/sh
echo "$*" >>"$0.log"
case $1$FAKE_UV in
venv-fails)
	exit 1 ;;
venv*)
	for dir; do :; done
	mkdir -p "$dir/bin" "$dir/lib/python3/site-packages" && ln -sf /bin/sh "$dir/bin/python" ;;
export*)
	echo exported >"$6" ;;
pip*)
	eval "$FAKE_UV"
	echo "$*" >"${4%/bin/python}/installed" ;;
esac
`

// request returns a request for a plugin that requires six, with a fake uv.
func request(t *testing.T, set ...string) Request {
	t.Helper()
	dir := write(t, map[string]string{"plugin/p.py": "", "plugin/requirements.txt": "six\n", "tools/uv": fakeUV})
	if err := os.Chmod(filepath.Join(dir, "tools/uv"), 0o777); err != nil {
		t.Fatal(err)
	}
	plugin := filepath.Join(dir, "plugin")
	return Request{
		Entry: filepath.Join(plugin, "p.py"), Dirs: []string{plugin}, Python: "/bin/sh", Complete: "pyplug sync --into-existing p.py",
		Environ: append([]string{"PATH=" + filepath.Join(dir, "tools") + ":/usr/bin:/bin"}, set...),
	}
}

// in adds a file to the plugin's directory.
func (r Request) in(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.Dirs[0], name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// of writes another plugin with the given text to the same directory, and returns its request.
func (r Request) of(t *testing.T, name, text string) Request {
	t.Helper()
	r.in(t, name, text)
	r.Entry = filepath.Join(r.Dirs[0], name)
	return r
}

// venv returns the directory of the request's environment.
func (r Request) venv() string { return filepath.Join(r.Dirs[0], ".venv") }

func (r Request) look() State { return Look(r.venv(), r.Entry, r.Dirs) }

// log returns the commands of uv.
func (r Request) log() []string {
	tools, _, _ := strings.Cut(strings.TrimPrefix(r.Environ[0], "PATH="), ":")
	log, _ := os.ReadFile(filepath.Join(tools, "uv.log"))
	return strings.Split(strings.TrimSpace(string(log)), "\n")
}

// last returns the arguments of the last `uv pip install` after --python PYTHON.
func (r Request) last(t *testing.T) string {
	t.Helper()
	log := r.log()
	args, ok := strings.CutPrefix(log[len(log)-1], "pip install --python "+python(r.venv())+" ")
	if !ok {
		t.Fatalf("uv %s, want pip install", log[len(log)-1])
	}
	return args
}

func plan(t *testing.T, r Request) Plan {
	t.Helper()
	p, err := NewPlan(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func synced(t *testing.T, r Request) Plan {
	t.Helper()
	p := plan(t, r)
	if made, err := p.Make(t.Context()); err != nil || made == p.Exists {
		t.Fatalf("made: %v, error %v", made, err)
	}
	if found := r.look(); found != (State{Made: true, Listed: true}) {
		t.Fatalf("after a sync: %+v", found)
	}
	return p
}

// names returns the names in a directory.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func script(requirements string) string {
	return "# /// script\n# dependencies = [" + requirements + "]\n# ///\n"
}

func TestMake(t *testing.T) {
	r := request(t)
	if found := r.look(); found != (State{}) {
		t.Errorf("found %+v before anything was made", found)
	}
	if p := synced(t, r); p.Dir != r.venv() || p.Exists {
		t.Errorf("made %+v, want %s", p, r.venv())
	}
	if want := []string{".gitignore", "bin", "installed", "lib", "pyplug-env.json", "pyplug-env.lock"}; !slices.Equal(names(t, r.venv()), want) {
		t.Errorf("made %q, want %q", names(t, r.venv()), want)
	}
	if !synced(t, r).Exists || strings.Count(strings.Join(r.log(), "\n"), "venv ") != 1 {
		t.Errorf("made again: %q", r.log())
	}
	if got, want := r.last(t), "-r "+filepath.Join(r.Dirs[0], "requirements.txt")+" --"; got != want {
		t.Errorf("installed %s, want %s", got, want)
	}
	moved := r
	moved.Dirs = []string{r.Dirs[0] + "-moved"}
	moved.Entry = filepath.Join(moved.Dirs[0], "p.py")
	if err := os.Rename(r.Dirs[0], moved.Dirs[0]); err != nil {
		t.Fatal(err)
	}
	if found := moved.look(); found != (State{Made: true, Listed: true}) {
		t.Errorf("after it was moved: %+v", found)
	}
}

// TestMakeTogether checks that scripts and a project in one directory are resolved together, each
// with its current requirements.
func TestMakeTogether(t *testing.T) {
	r := request(t)
	synced(t, r)
	a, b := r.of(t, "a.py", script(`"attrs", "six"`)), r.of(t, "b.py", script(`"six", "idna"`))
	if found := a.look(); found != (State{Made: true}) {
		t.Errorf("a script that was not synced: %+v", found)
	}
	synced(t, a)
	synced(t, b)
	project := "-r " + filepath.Join(r.Dirs[0], "requirements.txt") + " -- "
	if got, want := r.last(t), project+"attrs idna six"; got != want {
		t.Errorf("installed %s, want %s", got, want)
	}
	r.in(t, "a.py", script(`"attrs>1"`))
	if found := a.look(); !strings.HasPrefix(found.Stale, "a.py lists other packages") {
		t.Errorf("after a change: %+v", found)
	}
	synced(t, b)
	if got, want := r.last(t), project+"attrs>1 idna six"; got != want {
		t.Errorf("installed %s, want %s", got, want)
	}
	if found := a.look(); found.Stale != "" {
		t.Errorf("after the sync of another script: %+v", found)
	}
	r.in(t, "a.py", "")
	if err := os.Remove(filepath.Join(r.Dirs[0], "requirements.txt")); err != nil {
		t.Fatal(err)
	}
	if found := a.look(); found != (State{Made: true}) {
		t.Errorf("one that needs nothing any more: %+v", found)
	}
	synced(t, b)
	if got := r.last(t); got != "-- idna six" {
		t.Errorf("installed %s, want what b.py asks for", got)
	}
}

// TestLockFiles checks that uv reads a lock file, alone or together with other sources.
func TestLockFiles(t *testing.T) {
	r := request(t)
	r.in(t, "uv.lock", "version = 1\n")
	synced(t, r)
	log := r.log()
	want := "sync --inexact --python " + python(r.venv()) + " --locked --no-default-groups --project " + r.Dirs[0] + " --no-install-project"
	if got := log[len(log)-1]; got != want {
		t.Errorf("uv %s, want %s", got, want)
	}
	synced(t, r.of(t, "a.py", script(`"attrs"`)))
	if got, want := r.last(t), "-r "+filepath.Join(r.venv(), temporaryName, "requirements-1.txt")+" -- attrs"; got != want {
		t.Errorf("installed %s, want %s", got, want)
	}
	r.in(t, "uv.lock", "version = 2\n")
	if found := r.look(); !strings.HasPrefix(found.Stale, "uv.lock lists other packages") {
		t.Errorf("after a change of the lock file: %+v", found)
	}
}

func TestIncludes(t *testing.T) {
	r := request(t)
	r.in(t, "requirements.txt", "-r more.txt\n")
	r.in(t, "more.txt", "a\n")
	synced(t, r)
	r.in(t, "more.txt", "b\n")
	if found := r.look(); found.Stale == "" {
		t.Error("an included file does not count")
	}
}

// TestForeign checks that pyplug changes an environment that it did not make only if the user asks
// for that.
func TestForeign(t *testing.T) {
	r := request(t)
	if err := errors.Join(os.MkdirAll(filepath.Join(r.venv(), "bin"), 0o777), os.Symlink("/bin/sh", python(r.venv()))); err != nil {
		t.Fatal(err)
	}
	_, err := NewPlan(r)
	e := hook.AsError(err)
	if e == nil || e.Kind != hook.Usage || !strings.Contains(err.Error(), "was not made by pyplug") || !strings.Contains(strings.Join(hook.Words(e.Hints), ""), r.Complete) {
		t.Errorf("error %v %+v, want one that names `%s`", err, e, r.Complete)
	}
	r.IntoExisting = true
	p := plan(t, r)
	if made, err := p.Make(t.Context()); err != nil || made || !p.Exists {
		t.Errorf("made: %v, error %v", made, err)
	}
	if want := []string{"bin", "installed", "pyplug-env.lock"}; !slices.Equal(names(t, r.venv()), want) {
		t.Errorf("it has %q, want %q", names(t, r.venv()), want)
	}
	if found := r.look(); found != (State{}) {
		t.Errorf("found %+v, which pyplug did not make", found)
	}
}

// TestBroken checks that an environment without its Python is not removed.
func TestBroken(t *testing.T) {
	r := request(t)
	synced(t, r)
	if err := os.Remove(python(r.venv())); err != nil {
		t.Fatal(err)
	}
	_, err := NewPlan(r)
	if e := hook.AsError(err); e == nil || e.Kind != hook.Interpreter || !strings.Contains(err.Error(), "has no working python") {
		t.Errorf("error %v", err)
	}
}

// TestMisleading checks that no variable of the user redirects an installer.
func TestMisleading(t *testing.T) {
	set := []string{"FAKE_UV=env >&2; exit 1"}
	for _, name := range misleading {
		set = append(set, name+"=elsewhere")
	}
	_, err := plan(t, request(t, set...)).Make(t.Context())
	failed := hook.AsError(err)
	if failed == nil || failed.Exit == nil || len(failed.Exit.Stderr) == 0 {
		t.Fatalf("error %v", err)
	}
	for _, line := range failed.Exit.Stderr {
		if strings.Contains(line, "elsewhere") {
			t.Errorf("the installer gets %s", line)
		}
	}
}

// TestMakeFails checks that a failed sync removes the environment that it made, and leaves an older
// one unchanged.
func TestMakeFails(t *testing.T) {
	for name, c := range map[string]struct{ do, want string }{
		"an error":        {"echo no such package >&2; exit 1", "no such package"},
		"no environment":  {"-fails", "uv venv failed"},
		"a signal":        {"kill -9 $$", "SIGKILL"},
		"temporary files": {`echo half >"$TMPDIR/download"; ls "$TMPDIR" >&2; exit 1`, "download"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request(t, "FAKE_UV="+c.do)
			_, err := plan(t, r).Make(t.Context())
			failed := hook.AsError(err)
			if failed == nil || failed.Kind != hook.Interpreter {
				t.Fatalf("error %v", err)
			}
			all := err.Error()
			if failed.Exit != nil {
				all += failed.Exit.Signal + strings.Join(failed.Exit.Stderr, "\n")
			}
			if !strings.Contains(all, c.want) {
				t.Errorf("error %q, want %q in it", all, c.want)
			}
			if got := names(t, r.Dirs[0]); !slices.Equal(got, []string{"p.py", "requirements.txt"}) {
				t.Errorf("%q is left", got)
			}
			r.Environ = r.Environ[:1]
			synced(t, r)
			before := readMark(r.venv())
			other := r.of(t, "other.py", script(`"other"`))
			other.Environ = append(other.Environ, "FAKE_UV="+c.do)
			if _, err := plan(t, other).Make(t.Context()); (err == nil) != (c.do == "-fails") {
				t.Errorf("error %v", err)
			}
			if found := r.look(); found.Stale != "" {
				t.Errorf("after another sync failed: %+v, was %+v", found, before)
			}
			if bounded.Exists(filepath.Join(r.venv(), temporaryName)) {
				t.Error("temporary files are left")
			}
		})
	}
}

// TestUnwritable checks the error and the hint for a directory that cannot be written.
func TestUnwritable(t *testing.T) {
	r := request(t)
	if err := os.MkdirAll(filepath.Join(r.venv(), lockName), 0o777); err != nil { // a directory in place of the file stops even root
		t.Fatal(err)
	}
	_, err := plan(t, r).Make(t.Context())
	if e := hook.AsError(err); e == nil || e.Kind != hook.Interpreter || !strings.Contains(strings.Join(hook.Words(e.Hints), ""), "/bin/sh -m venv ELSEWHERE") {
		t.Errorf("error %v %+v", err, e)
	}
}

// TestLacksVenv checks that a Python without venv or pip needs uv.
func TestLacksVenv(t *testing.T) {
	for said, want := range map[string]bool{"/usr/bin/python3: No module named venv": true, "because ensurepip is not": true, "no space left": false} {
		r := request(t)
		tools, _, _ := strings.Cut(strings.TrimPrefix(r.Environ[0], "PATH="), ":")
		r.Python, r.Environ = filepath.Join(tools, "uv"), []string{"PATH=/none"}
		if err := os.WriteFile(r.Python, []byte("#!/bin/sh\necho '"+said+"'; exit 1"), 0o777); err != nil {
			t.Fatal(err)
		}
		_, err := plan(t, r).Make(t.Context())
		if failed := hook.AsError(err); failed == nil || failed.Kind != hook.Interpreter || strings.Contains(strings.Join(hook.Words(failed.Hints), ""), "install uv") != want {
			t.Errorf("%s: %v %+v", said, err, failed)
		}
	}
}

// TestMakeInterrupted checks that an interrupted sync leaves no new environment, and that the next
// sync completes an older one.
func TestMakeInterrupted(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	interrupt := func(r Request) {
		t.Helper()
		r.Environ = append(slices.Clone(r.Environ), "FAKE_UV=mkdir -p "+filepath.Join(r.venv(), "lib/python3/site-packages/half-1.dist-info")+"; read x <"+fifo)
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("interrupted")
		go func() {
			if f, err := os.OpenFile(fifo, os.O_WRONLY, 0); err == nil { // the installer is reading
				cancel(why)
				f.Close()
			}
		}()
		if _, err := plan(t, r).Make(ctx); !errors.Is(err, why) {
			t.Errorf("error %v", err)
		}
	}
	r := request(t)
	interrupt(r)
	if got := names(t, r.Dirs[0]); !slices.Equal(got, []string{"p.py", "requirements.txt"}) {
		t.Errorf("%q is left", got)
	}
	synced(t, r)
	interrupt(r)
	if found := r.look(); !strings.HasSuffix(found.Stale, "was interrupted") || !found.Listed {
		t.Errorf("after an interrupted sync: %+v", found)
	}
	synced(t, r)
}

// TestAfterKill checks that the next sync completes an environment whenever the last sync was
// killed.
func TestAfterKill(t *testing.T) {
	half := "lib/python3/site-packages/half-1.dist-info/METADATA"
	whole := "lib/python3/site-packages/whole-1.dist-info/INSTALLER"
	for name, files := range map[string]map[string]string{
		"the directory":  {},
		"the lock":       {lockName: "", temporaryName + "/x": "", ".new-1": ""},
		"half a marker":  {lockName: "", interp.EnvMarker: "{"},
		"the marker":     {lockName: "", interp.EnvMarker: `{"state": "making", "sources": [{"of": ".", "requirements": []}]}`},
		"a Python":       {interp.EnvMarker: `{"state": "making"}`, "bin/python": ""},
		"half a package": {interp.EnvMarker: `{"state": "installing"}`, "bin/python": "", half: "", whole: "", temporaryName + "/x": ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(t)
			if err := os.Mkdir(r.venv(), 0o777); err != nil {
				t.Fatal(err)
			}
			for file, text := range files {
				path := filepath.Join(r.venv(), file)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
					t.Fatal(err)
				}
			}
			synced(t, r)
			if bounded.Exists(filepath.Join(r.venv(), half)) || bounded.Exists(filepath.Join(r.venv(), temporaryName)) {
				t.Error("half a package or a temporary file is left")
			}
			if _, had := files[whole]; had && !bounded.Exists(filepath.Join(r.venv(), whole)) {
				t.Error("a whole package was removed")
			}
		})
	}
}

// TestHalfChanged checks that the next sync completes an environment that a failed installer
// changed.
func TestHalfChanged(t *testing.T) {
	r := request(t)
	synced(t, r)
	half := filepath.Join(r.venv(), "lib/python3/site-packages/half-1.dist-info")
	failing := r
	failing.Environ = append(slices.Clone(r.Environ), "FAKE_UV=mkdir "+half+"; exit 1")
	if _, err := plan(t, failing).Make(t.Context()); err == nil {
		t.Fatal("no error")
	}
	if found := r.look(); !strings.HasSuffix(found.Stale, "was interrupted") {
		t.Errorf("after a change: %+v", found)
	}
	synced(t, r)
	if bounded.Exists(half) {
		t.Error("half a package is left")
	}
}

// TestForgedMarker checks that a marker is not trusted, because others may be able to write it.
func TestForgedMarker(t *testing.T) {
	r := request(t)
	synced(t, r)
	elsewhere := filepath.Join(write(t, map[string]string{"x.py": script(`"evil"`)}), "x.py")
	of, err := filepath.Rel(r.Dirs[0], elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	m := readMark(r.venv())
	m.Sources = append(m.Sources, entry{Owner: schema.Path(of)})
	if err := m.write(r.venv()); err != nil {
		t.Fatal(err)
	}
	synced(t, r)
	if got := r.last(t); strings.Contains(got, "evil") {
		t.Errorf("installed %s, want nothing of %s", got, elsewhere)
	}
	if info, err := os.Stat(markPath(r.venv())); err != nil || info.Mode().Perm()&0o022 != 0 {
		t.Errorf("others may write the marker: %v, %v", info.Mode(), err)
	}
}

// TestOthersChange checks that a sync skips a listed source that can no longer be installed, or
// returns an error that names it.
func TestOthersChange(t *testing.T) {
	r := request(t)
	synced(t, r)
	a := r.of(t, "a.py", script(`"attrs"`))
	r.in(t, "poetry.lock", "")
	synced(t, a)
	if got := r.last(t); got != "-- attrs" {
		t.Errorf("installed %s, want what a.py asks for", got)
	}
	if found := r.look(); found != (State{Made: true}) {
		t.Errorf("a project of poetry: %+v", found)
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"pylock.toml": {map[string]string{"pylock.toml": ""}, "would share an environment, which a pylock.toml cannot"},
		"uv is gone":  {map[string]string{"uv.lock": ""}, "needs uv, which is not on PATH"},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(t)
			for file, text := range c.files {
				r.in(t, file, text)
			}
			synced(t, r)
			a := r.of(t, "a.py", script(`"attrs"`))
			if name == "uv is gone" {
				a.Environ = nil
			}
			if _, err := plan(t, a).Make(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
			if found := r.look(); found.Stale != "" {
				t.Errorf("afterwards: %+v", found)
			}
		})
	}
}

func TestTwoAtOnce(t *testing.T) {
	r := request(t)
	var all sync.WaitGroup
	var count atomic.Int32
	for i := range 4 {
		p := plan(t, r.of(t, fmt.Sprintf("p%d.py", i), script(fmt.Sprintf("\"p%d\"", i))))
		all.Go(func() {
			made, err := p.Make(t.Context())
			if err != nil {
				t.Error(err)
			}
			if made {
				count.Add(1)
			}
		})
	}
	all.Wait()
	if count.Load() != 1 || r.last(t) != "-- p0 p1 p2 p3" {
		t.Errorf("%d made it, want 1; the last installed %s", count.Load(), r.last(t))
	}
}
