//go:build unix

package env

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// write makes files in a new directory, and returns it.
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

// fakeUV is an installer that notes its commands in uv.log beside it. What it installs is a
// file with the requirements, and their metadata. It does what FAKE_UV says before that.
const fakeUV = `#!/bin/sh
echo "$*" >>"$0.log"
case $1$FAKE_UV in
venv-fails)
	exit 1 ;;
venv*)
	for dir; do :; done
	mkdir -p "$dir/bin" && ln -s /bin/sh "$dir/bin/python" && echo "#!$dir/bin/python" >"$dir/bin/tool" ;;
pip*)
	eval "$FAKE_UV"
	for file; do :; done
	cp "$file" "${4%/python}/installed"
	while read -r name; do
		mkdir -p "${4%/bin/python}/lib/python3/site-packages/${name%%>*}-1.dist-info"
	done <"$file" ;;
esac
`

// request is a plugin that wants six, and a fake uv.
func request(t *testing.T, set ...string) Request {
	t.Helper()
	dir := write(t, map[string]string{"plugin/p.py": "", "plugin/requirements.txt": "six\n", "tools/uv": fakeUV})
	if err := os.Chmod(filepath.Join(dir, "tools/uv"), 0o777); err != nil {
		t.Fatal(err)
	}
	plugin := filepath.Join(dir, "plugin")
	return Request{
		Entry: filepath.Join(plugin, "p.py"), Dirs: []string{plugin}, Python: "/bin/sh", Real: "/bin/sh", Version: "cpython 3.12.0",
		Cache: filepath.Join(dir, "cache"), Environ: append([]string{"PATH=" + filepath.Join(dir, "tools") + ":/usr/bin:/bin"}, set...),
	}
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
	return p
}

func installs(t *testing.T, r Request) int {
	t.Helper()
	log, _ := os.ReadFile(filepath.Join(filepath.Dir(r.Cache), "tools/uv.log"))
	return strings.Count(string(log), "pip install")
}

func TestMake(t *testing.T) {
	r := request(t)
	if found := Lookup(r.Cache, r.Entry, r.Dirs); found != (Record{}) {
		t.Errorf("found %v before anything was made", found)
	}
	p := synced(t, r)
	if found := Lookup(r.Cache, r.Entry, r.Dirs); found != (Record{Dir: p.Dir}) {
		t.Errorf("found %v, want %s", found, p.Dir)
	}
	if tool, err := os.ReadFile(filepath.Join(p.Dir, "bin/tool")); err != nil || string(tool) != "#!"+p.Python+"\n" {
		t.Errorf("a script in it begins with %q (%v)", tool, err)
	}
	for _, of := range []string{r.Entry, r.Dirs[0]} {
		if err := os.WriteFile(recordPath(r.Cache, of), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found := Lookup(r.Cache, r.Entry, r.Dirs); found != (Record{}) {
		t.Errorf("found %v by a corrupt record", found)
	}
	synced(t, r)
	before, _ := os.Stat(recordPath(r.Cache, r.Entry))
	again := synced(t, r)
	if after, _ := os.Stat(recordPath(r.Cache, r.Entry)); !again.Exists || installs(t, r) != 1 || !os.SameFile(before, after) {
		t.Errorf("made again: %d installs", installs(t, r))
	}
	other := r
	other.Entry, other.Dirs = filepath.Join(write(t, map[string]string{"requirements.txt": "six\n"}), "other\xff.py"), nil
	other.Dirs = []string{filepath.Dir(other.Entry)}
	if shared := synced(t, other); shared.Dir != p.Dir || installs(t, r) != 1 || Lookup(r.Cache, other.Entry, other.Dirs) != (Record{Dir: p.Dir}) {
		t.Errorf("an equal plugin has %s, want %s", shared.Dir, p.Dir)
	}
	if err := os.WriteFile(filepath.Join(r.Dirs[0], "requirements.txt"), []byte("six>1\n-r more.txt\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if found := Lookup(r.Cache, r.Entry, r.Dirs); !strings.Contains(found.Stale, "change") {
		t.Errorf("found %v after the source changed", found)
	}
	if changed := synced(t, r); changed.Dir == p.Dir || Lookup(r.Cache, r.Entry, r.Dirs) != (Record{Dir: changed.Dir}) {
		t.Errorf("after a change %s, before it %s", changed.Dir, p.Dir)
	}
	if err := os.WriteFile(filepath.Join(r.Dirs[0], "more.txt"), []byte("idna\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if found := Lookup(r.Cache, r.Entry, r.Dirs); !strings.Contains(found.Stale, "a file that it includes") {
		t.Errorf("found %v after an included file changed", found)
	}
	if err := os.Remove(p.Python); err != nil {
		t.Fatal(err)
	}
	if found := Lookup(r.Cache, other.Entry, other.Dirs); found.Stale != "is gone" {
		t.Errorf("found %v without its Python", found)
	}
	if synced(t, other); Lookup(r.Cache, other.Entry, other.Dirs).Stale != "" {
		t.Error("what lost its Python is not made again")
	}
	if err := os.Remove(filepath.Join(p.Dir, marker)); err != nil {
		t.Fatal(err)
	}
	if synced(t, other); Lookup(r.Cache, other.Entry, other.Dirs) != (Record{Dir: p.Dir}) {
		t.Error("what lost its marker is not made again")
	}
}

// TestShared has one sync count for every plugin that asks for the same by the same file.
func TestSharedFile(t *testing.T) {
	r := request(t)
	p := synced(t, r)
	beside := func(name, text string) Record {
		entry := filepath.Join(r.Dirs[0], name)
		if err := os.WriteFile(entry, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return Lookup(r.Cache, entry, r.Dirs)
	}
	if found := beside("b.py", "import six\n"); found != (Record{Dir: p.Dir}) {
		t.Errorf("found %v, want %s", found, p.Dir)
	}
	if found := beside("c.py", "# /// script\n# dependencies = [\"six\"]\n# ///\n"); found != (Record{}) {
		t.Errorf("found %v for one that has a block of its own", found)
	}
	nearer := write(t, map[string]string{"requirements.txt": "seven\n"})
	if found := Lookup(r.Cache, filepath.Join(nearer, "d.py"), append([]string{nearer}, r.Dirs...)); found != (Record{}) {
		t.Errorf("found %v for one with a nearer file", found)
	}
	if err := os.WriteFile(filepath.Join(r.Dirs[0], "requirements.txt"), []byte("seven\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if found := beside("b.py", ""); !strings.Contains(found.Stale, "change") {
		t.Errorf("found %v after the source changed", found)
	}
	other := r
	other.Entry = filepath.Join(r.Dirs[0], "b.py")
	if p = synced(t, other); Lookup(r.Cache, r.Entry, r.Dirs) != (Record{Dir: p.Dir}) {
		t.Errorf("found %v, want %s that the other plugin has now", Lookup(r.Cache, r.Entry, r.Dirs), p.Dir)
	}
}

// A variable of the user does not lead an installer elsewhere.
func TestMisleading(t *testing.T) {
	set := []string{"FAKE_UV=env >&2; exit 1"}
	for _, name := range misleading {
		set = append(set, name+"=elsewhere")
	}
	failed := (*Error)(nil)
	if _, err := plan(t, request(t, set...)).Make(t.Context()); !errors.As(err, &failed) || failed.Exit == nil || len(failed.Exit.Stderr) == 0 {
		t.Fatalf("error %v", err)
	}
	for _, line := range failed.Exit.Stderr {
		if strings.Contains(line, "elsewhere") {
			t.Errorf("the installer gets %s", line)
		}
	}
}

func TestInPlace(t *testing.T) {
	r := request(t)
	r.InPlace = true
	env := filepath.Join(r.Dirs[0], ".venv")
	if p := synced(t, r); p.Dir != env || !plan(t, r).Exists || Lookup(r.Cache, r.Entry, r.Dirs) != (Record{Dir: env}) {
		t.Errorf("made %s, want %s, found %v", p.Dir, env, Lookup(r.Cache, r.Entry, r.Dirs))
	}
	if err := os.WriteFile(filepath.Join(r.Dirs[0], "requirements.txt"), []byte("seven\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	other := r
	other.Entry += "other.py"
	synced(t, other)
	if got, err := os.ReadFile(filepath.Join(env, "bin/installed")); string(got) != "seven\n" {
		t.Errorf("after a change it has %q (%v)", got, err)
	}
	if err := os.WriteFile(filepath.Join(r.Dirs[0], "requirements.txt"), []byte("six\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if found := Lookup(r.Cache, r.Entry, r.Dirs); !strings.Contains(found.Stale, "was replaced by") {
		t.Errorf("found %v, which another plugin replaced", found)
	}
	synced(t, r)
	if err := os.Remove(filepath.Join(env, marker)); err != nil {
		t.Fatal(err)
	}
	if found := Lookup(r.Cache, r.Entry, r.Dirs); found != (Record{}) {
		t.Errorf("found %v, which is not ours", found)
	}
	if _, err := NewPlan(r); err == nil || !strings.Contains(err.Error(), "was not created by pyplug") {
		t.Errorf("error %v for an environment of somebody else", err)
	}
}

// only checks that nothing but whole environments and records is there.
func only(t *testing.T, r Request, envs int) {
	t.Helper()
	entries, err := os.ReadDir(environments(r.Cache))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ours := readJSON[mark](filepath.Join(environments(r.Cache), e.Name(), marker)); ours {
			envs--
		} else if e.Name() != "plugins" {
			t.Errorf("%s is left", e.Name())
		}
	}
	if envs != 0 {
		t.Errorf("%d environments are missing", envs)
	}
}

func TestMakeFails(t *testing.T) {
	for name, c := range map[string]struct{ do, want string }{
		"an error":           {"echo no such package >&2; exit 1", "no such package"},
		"no environment":     {"-fails", "uv venv failed"},
		"a signal":           {"kill -9 $$", "SIGKILL"},
		"a Python that left": {`rm "$4"`, "made no Python"},
		"a change meanwhile": {`echo seven >>"$6"`, "requirements.txt has changed meanwhile"},
		"temporary files":    {`echo half >"$TMPDIR/download"; ls "$TMPDIR" >&2; exit 1`, "download"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request(t, "FAKE_UV="+c.do)
			_, err := plan(t, r).Make(t.Context())
			failed := (*Error)(nil)
			if !errors.As(err, &failed) {
				t.Fatalf("error %v", err)
			}
			all := err.Error()
			if failed.Exit != nil {
				all += failed.Exit.Signal + strings.Join(failed.Exit.Stderr, "\n")
			}
			if !strings.Contains(all, c.want) {
				t.Errorf("error %q, want %q in it", all, c.want)
			}
			only(t, r, 0)
		})
	}
}

// A Python without venv or pip needs uv.
func TestLacksVenv(t *testing.T) {
	for said, want := range map[string]bool{"/usr/bin/python3: No module named venv": true, "because ensurepip is not": true, "no space left": false} {
		r := request(t)
		r.Python, r.Environ = filepath.Join(filepath.Dir(r.Cache), "tools/uv"), []string{"PATH=/none"}
		if err := os.WriteFile(r.Python, []byte("#!/bin/sh\necho '"+said+"'; exit 1"), 0o777); err != nil {
			t.Fatal(err)
		}
		_, err := plan(t, r).Make(t.Context())
		if failed := (*Error)(nil); !errors.As(err, &failed) || strings.Contains(strings.Join(hook.Words(failed.Hints()), ""), "install uv") != want {
			t.Errorf("%s: %v %+v", said, err, failed)
		}
	}
}

func TestMakeInterrupted(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	r := request(t, "FAKE_UV=read x <"+fifo)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	go func() {
		if f, err := os.OpenFile(fifo, os.O_WRONLY, 0); err == nil { // it is being read
			cancel(why)
			f.Close()
		}
	}()
	if _, err := plan(t, r).Make(ctx); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
	only(t, r, 0)
}

// What a killed sync left is removed by the next one.
func TestAfterKill(t *testing.T) {
	r := request(t)
	for range 2 { // the second finds the environment in its place
		p := plan(t, r)
		if err := errors.Join(os.MkdirAll(p.Dir+".pyplug/env/bin", 0o777), os.WriteFile(p.Dir+".pyplug.lock", nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		synced(t, r)
		only(t, r, 1)
	}
}

func TestTwoAtOnce(t *testing.T) {
	r := request(t)
	var all sync.WaitGroup
	var count atomic.Int32
	for range 4 {
		p := plan(t, r)
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
	if n := installs(t, r); n != 1 || count.Load() != 1 {
		t.Errorf("%d installs, and %d made it, want 1", n, count.Load())
	}
	only(t, r, 1)
}
