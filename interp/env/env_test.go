//go:build unix

package env

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
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

func TestSource(t *testing.T) {
	const pyproject = "[project]\ndependencies = [\"b\", \"a\"]\n"
	for name, c := range map[string]struct {
		files map[string]string
		kind  string
		wants string
	}{
		"a script block":           {map[string]string{"p.py": "# /// script\n# dependencies = [\"six\"]\n# ///\n", "uv.lock": "", "requirements.txt": "x"}, "PEP 723", "six"},
		"a locked block":           {map[string]string{"p.py": "# /// script\n# dependencies = [\"six\"]\n# ///\n", "p.py.lock": "", "uv.lock": ""}, "PEP 723 lock", ""},
		"a lock without a block":   {map[string]string{"p.py": "", "p.py.lock": "", "requirements.txt": "x"}, "requirements.txt", ""},
		"a block without any":      {map[string]string{"p.py": "# /// script\n# requires-python = \">=3.8\"\n# ///\n", "requirements.txt": "x"}, "requirements.txt", ""},
		"uv before poetry":         {map[string]string{"uv.lock": "", "poetry.lock": "", "pyproject.toml": pyproject}, "uv.lock", ""},
		"poetry before pdm":        {map[string]string{"poetry.lock": "", "pdm.lock": ""}, "poetry.lock", ""},
		"pdm before pylock":        {map[string]string{"pdm.lock": "", "pylock.toml": ""}, "pdm.lock", ""},
		"pylock before pyproject":  {map[string]string{"pylock.toml": "", "pyproject.toml": pyproject}, "pylock.toml", ""},
		"pyproject":                {map[string]string{"pyproject.toml": pyproject, "requirements.txt": "x"}, "pyproject.toml", "a b"},
		"a pyproject without any":  {map[string]string{"pyproject.toml": "[project]\nname = \"p\"\n", "requirements.txt": "x"}, "requirements.txt", ""},
		"none of them wanted":      {map[string]string{"pyproject.toml": "[project]\ndependencies = []\n", "requirements.txt": "x"}, "pyproject.toml", ""},
		"the nearest directory":    {map[string]string{"requirements.txt": "x", "up/uv.lock": ""}, "requirements.txt", ""},
		"the directory above":      {map[string]string{"up/uv.lock": ""}, "uv.lock", ""},
		"a directory of that name": {map[string]string{"uv.lock/x": "", "requirements.txt": "x"}, "requirements.txt", ""},
		"nothing":                  {map[string]string{"p.py": "import six\n"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, c.files)
			got, err := findSource(filepath.Join(dir, "p.py"), []string{dir, filepath.Join(dir, "up")})
			if wants := strings.Join(got.Requirements, " "); got.Kind != c.kind || wants != c.wants {
				t.Errorf("got %s with %q, want %s with %q (%v)", got.Kind, wants, c.kind, c.wants, err)
			}
			if (err != nil) != (c.kind == "") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// The same requirements have the same digest, whatever their order; an included file counts.
func TestDigest(t *testing.T) {
	of := func(files map[string]string, name string) string {
		t.Helper()
		s, err := readSource(Source{Kind: name, Path: filepath.Join(write(t, files), name)})
		if err != nil {
			t.Fatal(err)
		}
		return s.digest
	}
	ab := of(map[string]string{"pyproject.toml": "[project]\ndependencies = [\"a\", \"b\"]"}, "pyproject.toml")
	if other := of(map[string]string{"pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\"b\", \"a\"]"}, "pyproject.toml"); other != ab {
		t.Error("another order or name is another environment")
	}
	one := of(map[string]string{"requirements.txt": "-r more.txt", "more.txt": "a"}, "requirements.txt")
	if two := of(map[string]string{"requirements.txt": "-r more.txt", "more.txt": "b"}, "requirements.txt"); one == two {
		t.Error("an included file does not count")
	}
	of(map[string]string{"requirements.txt": "-r requirements.txt"}, "requirements.txt") // it ends
}

// Equal plugins in two directories share an environment, unless what they ask for may name a
// file or a project beside it.
func TestShared(t *testing.T) {
	for _, c := range []struct {
		name, text string
		shared     bool
	}{
		{"requirements.txt", "six  # see ./docs\nidna \\\n  >=3 --hash=sha256:ab\nx @ https://host/x.tar; python_version > '3'\n--index-url https://host/simple\n", true},
		{"requirements.txt", "six\n./lib\n", false},
		{"requirements.txt", "-e .\n", false},
		{"requirements.txt", "lib/six\n", false},
		{"requirements.txt", "six.whl ; python_version > '3'\n", false},
		{"requirements.txt", "-f wheels\nsix\n", false},
		{"requirements.txt", "--find-links=wheels\nsix\n", false},
		{"requirements.txt", "lib @ file:lib\n", false},
		{"pyproject.toml", "[project]\ndependencies = [\"six\"]\n", true},
		{"uv.lock", "version = 1\n", false},
	} {
		one, two := request(t), request(t)
		two.Environ = one.Environ
		one.Dirs, two.Dirs = []string{write(t, map[string]string{c.name: c.text})}, []string{write(t, map[string]string{c.name: c.text})}
		if shared := plan(t, one).key == plan(t, two).key; shared != c.shared {
			t.Errorf("%s with %q: shared is %v", c.name, c.text, shared)
		}
	}
	r := request(t)
	r.Dirs = []string{write(t, map[string]string{"uv.lock": ""})}
	before := plan(t, r).key
	if err := os.WriteFile(filepath.Join(r.Dirs[0], "pyproject.toml"), []byte("[project]"), 0o666); err != nil {
		t.Fatal(err)
	}
	if plan(t, r).key == before {
		t.Error("a change of the project beside a lock file does not count")
	}
}

// fakeUV is an installer that notes its commands in uv.log beside it. What it installs is a
// file with the requirements. It does what FAKE_UV says before that.
const fakeUV = `#!/bin/sh
echo "$*" >>"$0.log"
case $1 in
venv)
	for dir; do :; done
	mkdir -p "$dir/bin" && ln -s /bin/sh "$dir/bin/python" && echo "#!$dir/bin/python" >"$dir/bin/tool" ;;
pip)
	eval "$FAKE_UV"
	for file; do :; done
	cp "$file" "${4%/python}/installed" ;;
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
	if err := p.Make(t.Context()); err != nil {
		t.Fatal(err)
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
	if found := Lookup(r.Cache, r.Entry); found != (Record{}) {
		t.Errorf("found %v before anything was made", found)
	}
	p := synced(t, r)
	if found := Lookup(r.Cache, r.Entry); found != (Record{Dir: p.Dir}) {
		t.Errorf("found %v, want %s", found, p.Dir)
	}
	if tool, err := os.ReadFile(filepath.Join(p.Dir, "bin/tool")); err != nil || string(tool) != "#!"+p.Python+"\n" {
		t.Errorf("a script in it begins with %q (%v)", tool, err)
	}
	if again := synced(t, r); !again.Exists || installs(t, r) != 1 {
		t.Errorf("made again: %d installs", installs(t, r))
	}
	other := r
	other.Entry, other.Dirs = filepath.Join(write(t, map[string]string{"requirements.txt": "six\n"}), "other\xff.py"), nil
	other.Dirs = []string{filepath.Dir(other.Entry)}
	if shared := synced(t, other); shared.Dir != p.Dir || installs(t, r) != 1 || Lookup(r.Cache, other.Entry) != (Record{Dir: p.Dir}) {
		t.Errorf("an equal plugin has %s, want %s", shared.Dir, p.Dir)
	}
	if err := os.WriteFile(filepath.Join(r.Dirs[0], "requirements.txt"), []byte("six>1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if found := Lookup(r.Cache, r.Entry); !strings.Contains(found.Stale, "change") {
		t.Errorf("found %v after the source changed", found)
	}
	if changed := synced(t, r); changed.Dir == p.Dir || Lookup(r.Cache, r.Entry) != (Record{Dir: changed.Dir}) {
		t.Errorf("after a change %s, before it %s", changed.Dir, p.Dir)
	}
	if err := os.Remove(p.Python); err != nil {
		t.Fatal(err)
	}
	if found := Lookup(r.Cache, other.Entry); found.Stale != "is gone" {
		t.Errorf("found %v without its Python", found)
	}
	if synced(t, other); Lookup(r.Cache, other.Entry).Stale != "" {
		t.Error("what lost its Python is not made again")
	}
	if err := os.Remove(filepath.Join(p.Dir, marker)); err != nil {
		t.Fatal(err)
	}
	if synced(t, other); Lookup(r.Cache, other.Entry) != (Record{Dir: p.Dir}) {
		t.Error("what lost its marker is not made again")
	}
}

// A variable of the user does not lead an installer elsewhere.
func TestMisleading(t *testing.T) {
	set := []string{"FAKE_UV=env >&2; exit 1"}
	for _, name := range misleading {
		set = append(set, name+"=elsewhere")
	}
	failed := (*Error)(nil)
	if err := plan(t, request(t, set...)).Make(t.Context()); !errors.As(err, &failed) || failed.Exit == nil || len(failed.Exit.Stderr) == 0 {
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
	if p := synced(t, r); p.Dir != env || !plan(t, r).Exists || Lookup(r.Cache, r.Entry) != (Record{Dir: env}) {
		t.Errorf("made %s, want %s, found %v", p.Dir, env, Lookup(r.Cache, r.Entry))
	}
	if err := os.WriteFile(filepath.Join(r.Dirs[0], "requirements.txt"), []byte("seven\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	synced(t, r)
	if got, err := os.ReadFile(filepath.Join(env, "bin/installed")); string(got) != "seven\n" {
		t.Errorf("after a change it has %q (%v)", got, err)
	}
	if err := os.Remove(filepath.Join(env, marker)); err != nil {
		t.Fatal(err)
	}
	if found := Lookup(r.Cache, r.Entry); found != (Record{}) {
		t.Errorf("found %v, which is not ours", found)
	}
	if _, err := NewPlan(r); err == nil || !strings.Contains(err.Error(), "pyplug did not make it") {
		t.Errorf("error %v for an environment of somebody else", err)
	}
}

// only checks that nothing but whole environments, locks and records is there.
func only(t *testing.T, r Request, envs int) {
	t.Helper()
	entries, err := os.ReadDir(environments(r.Cache))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ours := readMark(filepath.Join(environments(r.Cache), e.Name())); ours {
			envs--
		} else if filepath.Ext(e.Name()) != ".lock" && e.Name() != "plugins" {
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
		"a signal":           {"kill -9 $$", "SIGKILL"},
		"a Python that left": {`rm "$4"`, "made no Python"},
		"temporary files":    {`echo half >"$TMPDIR/download"; ls "$TMPDIR" >&2; exit 1`, "download"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request(t, "FAKE_UV="+c.do)
			err := plan(t, r).Make(t.Context())
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
	if err := plan(t, r).Make(ctx); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
	only(t, r, 0)
}

// What a killed sync left is removed by the next one.
func TestAfterKill(t *testing.T) {
	r := request(t)
	p := plan(t, r)
	if err := os.MkdirAll(p.Dir+".pyplug/env/bin", 0o777); err != nil {
		t.Fatal(err)
	}
	synced(t, r)
	only(t, r, 1)
}

func TestTwoAtOnce(t *testing.T) {
	r := request(t)
	var all sync.WaitGroup
	for range 4 {
		p := plan(t, r)
		all.Go(func() {
			if err := p.Make(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := installs(t, r); n != 1 {
		t.Errorf("%d installs, want 1", n)
	}
	only(t, r, 1)
}

func TestRefused(t *testing.T) {
	files := func(name, text string) func(r *Request) {
		return func(r *Request) {
			dir := write(t, map[string]string{name: text})
			r.Entry, r.Dirs = filepath.Join(dir, "p.py"), []string{dir}
		}
	}
	script := func(text string) func(r *Request) { return files("p.py", "# /// script\n"+text) }
	for name, c := range map[string]struct {
		change func(r *Request)
		want   string
	}{
		"nothing asks":        {func(r *Request) { r.Dirs = nil }, "no file says what"},
		"a tool is missing":   {files("poetry.lock", ""), "read by poetry, which is not on PATH"},
		"a broken pyproject":  {files("pyproject.toml", "["), "pyproject.toml"},
		"the cache is a file": {func(r *Request) { r.Cache = r.Entry }, "not a directory"},
		"an unclosed block":   {script("# dependencies = [\"six\"]\n\nimport six\n"), "p.py: the script block is not complete"},
		"no list":             {script("# dependencies = \"six\"\n# ///\n"), `dependencies is "six", want a list`},
		"no text":             {files("pyproject.toml", "project.dependencies = [1]"), `dependencies[0] is 1, want a requirement`},
		"an option":           {script("# dependencies = [\"six\", \"-r /etc/passwd\"]\n# ///\n"), `dependencies[1] is "-r /etc/passwd"`},
		"a path":              {script("# dependencies = [\"./six\"]\n# ///\n"), `dependencies[0] is "./six"`},
		"two lines":           {script("# dependencies = [\"six\\n-r x\"]\n# ///\n"), `dependencies[0] is "six\n-r x"`},
		"poetry offline": {func(r *Request) {
			dir := write(t, map[string]string{"poetry.lock": "", "poetry": "#!/bin/sh\n"})
			if err := os.Chmod(filepath.Join(dir, "poetry"), 0o777); err != nil {
				t.Fatal(err)
			}
			r.Dirs, r.Environ, r.Offline = []string{dir}, []string{"PATH=" + dir}, true
		}, "poetry, which cannot install offline"},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(t)
			c.change(&r)
			p, err := NewPlan(r)
			if err == nil {
				err = p.Make(t.Context())
			}
			if e := (*Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}
