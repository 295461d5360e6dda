//go:build linux

package commands_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

var attackTime = flag.Duration("attack", 0, "how long TestAttack attacks; 0 skips it")

// TestAttack calls hooks that return, fail, hang, fork and die, in plugins that are kept alive in
// every way, from every kind of client, while processes are killed and suspended, plugins restarted
// and stopped, and their file is edited. No answer is wrong, no call is made twice or hangs, and
// nothing is left. `make attack T=60s` runs it.
func TestAttack(t *testing.T) {
	if *attackTime == 0 {
		t.Skip("make attack runs it")
	}
	a := newAttack(t)
	a.quiet()
	a.overTCP()
	steady := target{name: "steady", steady: true}
	for _, g := range []target{
		steady,
		{name: "plain"},
		{name: "many", flags: []string{"--workers", "3", "--max-calls", "50", "--watch"}},
		{name: "threads", flags: []string{"--threads", "--concurrency", "4", "--preload", "off"}},
		{name: "bounded", flags: []string{"--queue", "1"}, manifest: "entry = \"bounded.py\"\nlimits.age = \"3s\"\n"},
		{name: "grpc", plugin: runnertest.GoExample(t), flags: []string{"--cookie", "BASIC_PLUGIN=hello", "--workers", "2"}},
		{name: "kept", keep: true},
	} {
		a.start(g)
		a.repeat(func() { a.disturb(g) })
		a.repeat(func() { a.request(g) })
		a.repeat(func() { a.request(g) })
		a.repeat(func() { a.call(g) })
	}
	a.repeat(func() { a.lines() })
	a.repeat(func() { a.lines("--workers", "2") })
	a.repeat(a.signaled)
	a.repeat(a.signaled)
	a.repeat(a.keepsFiles)
	a.repeat(func() { a.lines("--threads", "--concurrency", "4") })
	a.repeat(a.once)
	a.running.Wait()
	a.settles(steady)
	a.end()
	a.notSmuggled()
}

// target is a plugin in the background.
type target struct {
	name     string
	plugin   string // "" for a copy of attack.py
	flags    []string
	manifest string // the text of its pyplug.toml, or ""
	keep     bool   // started with serve
	steady   bool   // its daemon is never ended, so no connection may be lost
}

// attack is an attack in progress.
type attack struct {
	*daemons
	t       *testing.T
	dir     string
	source  []byte // the text of attack.py
	record  string // the file with the tokens of calls that began
	temp    string // TMPDIR
	races   string // prefix of the files of the race detector
	ended   context.Context
	running sync.WaitGroup // repeated actions
	kept    sync.WaitGroup // processes of serve

	mu      sync.Mutex
	token   int
	answers map[string]answer
	counts  map[string]int
	latest  time.Duration // the longest time by which a request exceeded its limit
}

// answer says how a call ended.
type answer struct {
	ok    bool // the call succeeded
	begun bool // the call may have begun
}

// noisy is the sitecustomize.py of the attack, which Python runs before each worker.
const noisy = "import os; print('noise', flush=True); os.system('(echo noise; sleep 0.02; echo noise) &')\n"

func newAttack(t *testing.T) *attack {
	d, dir := newDaemons(t), t.TempDir()
	site := filepath.Join(dir, "site")
	a := &attack{daemons: d, t: t, dir: dir, record: filepath.Join(dir, "record"), temp: filepath.Join(dir, "temp"),
		races: filepath.Join(dir, "race"), answers: map[string]answer{}, counts: map[string]int{}}
	var err error
	if a.source, err = os.ReadFile("testdata/plugins/attack.py"); err == nil {
		err = errors.Join(os.Mkdir(a.temp, 0o700), os.WriteFile(a.record, nil, 0o600), os.Mkdir(site, 0o700),
			os.WriteFile(filepath.Join(site, "sitecustomize.py"), []byte(noisy), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	d.env = append(d.env, "ATTACK_RECORD="+a.record, "PYTHONPATH="+site, "TMPDIR="+a.temp, "GORACE=atexit_sleep_ms=0 log_path="+a.races)
	var cancel context.CancelFunc
	d.ctx, cancel = context.WithTimeout(context.Background(), *attackTime+longest)
	t.Cleanup(cancel)
	a.ended, cancel = context.WithTimeout(d.ctx, *attackTime)
	t.Cleanup(cancel)
	return a
}

// repeat repeats an action until the attack ends, or a test has failed.
func (a *attack) repeat(do func()) {
	a.running.Go(func() {
		for a.ended.Err() == nil && !a.t.Failed() {
			do()
		}
	})
}

// pause waits, at most until the attack ends.
func (a *attack) pause(d time.Duration) {
	select {
	case <-a.ended.Done():
	case <-time.After(d):
	}
}

// count counts an event for the log.
func (a *attack) count(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts[what]++
}

// file returns the path of a target's plugin. Each target has its own copy of attack.py.
func (a *attack) file(g target) string {
	if g.plugin != "" {
		return g.plugin
	}
	dir := a.dir
	if g.manifest != "" { // the manifest of its directory
		dir = filepath.Join(dir, g.name)
	}
	path := filepath.Join(dir, g.name+".py")
	if _, err := os.Stat(path); err != nil {
		if g.manifest != "" {
			if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "pyplug.toml"), []byte(g.manifest), 0o600)); err != nil {
				a.t.Error(err)
			}
		}
		a.edit(path, a.source)
	}
	return path
}

// edit replaces a file atomically.
func (a *attack) edit(path string, text []byte) {
	next := fmt.Sprintf("%s.%d", path, rand.Int())
	if err := errors.Join(os.WriteFile(next, text, 0o600), os.Rename(next, path)); err != nil {
		a.t.Error(err)
	}
}

// start starts a target, which may already run.
func (a *attack) start(g target) {
	words := append([]string{"start", "--name", g.name, "--cwd", a.dir, "--stop-timeout", "1s"}, g.flags...)
	if g.keep {
		words[0] = "serve"
		cmd := a.command(append(words, a.file(g))...)
		if err := cmd.Start(); err != nil {
			a.t.Error(err)
			return
		}
		a.kept.Go(func() { _ = cmd.Wait() }) // the process was killed or stopped
		runnertest.Soon(func() bool { _, _, code := a.pyplug("health", g.name); return code == 0 || !alive(cmd.Process.Pid) })
		return
	}
	if out, errs, code := a.pyplug(append(words, a.file(g))...); code != 0 && code != 5 { // 5 while the file is being edited
		a.t.Errorf("start of %s: exit code %d, %s%s", g.name, code, out, errs)
	}
}

// disturb does one thing that a target must survive.
func (a *attack) disturb(g target) {
	a.pause(rand.N(time.Second))
	acts := []func(target){a.killWorker, a.killWorker, a.suspend, a.restart}
	if g.plugin == "" {
		acts = append(acts, a.change)
	}
	if !g.steady {
		acts = append(acts, a.killDaemon, a.stop)
	}
	acts[rand.IntN(len(acts))](g)
}

// processes returns the daemon of a target, and its child processes.
func (a *attack) processes(g target) (daemon int, children []int) {
	text, err := os.ReadFile(filepath.Join(a.run, g.name+".json"))
	var s state
	if err != nil || json.Unmarshal(text, &s) != nil || s.PID == 0 {
		return 0, nil
	}
	parents := map[int]int{}
	for _, pid := range runnertest.WithEnv(a.tag) {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		var state string
		var parent int
		if _, rest, ok := strings.Cut(string(stat), ") "); ok {
			_, _ = fmt.Sscan(rest, &state, &parent)
		}
		parents[pid] = parent
	}
	for pid := range parents {
		for up := parents[pid]; up > 1; up = parents[up] {
			if up == s.PID {
				children = append(children, pid)
				break
			}
		}
	}
	slices.Sort(children)
	return s.PID, children
}

func (a *attack) killWorker(g target) {
	if _, children := a.processes(g); len(children) > 0 {
		a.count("killed child")
		_ = syscall.Kill(children[rand.IntN(len(children))], syscall.SIGKILL) // it may have ended
	}
}

func (a *attack) suspend(g target) {
	if _, children := a.processes(g); len(children) > 0 {
		a.count("suspended child")
		pid := children[rand.IntN(len(children))]
		_ = syscall.Kill(pid, syscall.SIGSTOP) // it may have ended
		if rand.IntN(2) == 0 {
			a.pause(rand.N(time.Second))
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
}

func (a *attack) killDaemon(g target) {
	daemon, _ := a.processes(g)
	if daemon == 0 {
		a.start(g)
		return
	}
	a.count("killed daemon")
	_ = syscall.Kill(daemon, syscall.SIGKILL) // it may have ended
	runnertest.Until(a.t, "the daemon is gone", func() bool { return !alive(daemon) })
	a.start(g)
}

func (a *attack) stop(g target) {
	a.count("stopped")
	if _, errs, code := a.pyplug("stop", g.name); code != 0 {
		a.t.Errorf("stop %s: exit code %d, %s", g.name, code, errs)
	}
	a.start(g)
}

func (a *attack) restart(g target) {
	a.count("restarted")
	if _, errs, code := a.pyplug("restart", g.name); !slices.Contains([]int{0, 5, 8, 9}, code) {
		a.t.Errorf("restart %s: exit code %d, %s", g.name, code, errs)
	}
}

// change makes a target's file invalid for a moment.
func (a *attack) change(g target) {
	a.count("edited")
	path := a.file(g)
	a.edit(path, []byte("def echo(:\n"))
	a.pause(rand.N(300 * time.Millisecond))
	a.edit(path, fmt.Appendf(slices.Clone(a.source), "# %d\n", rand.Int()))
}

// settles checks that the daemon of a target has no more open descriptors than a fresh one.
func (a *attack) settles(g target) {
	fresh := target{name: "fresh"}
	a.start(fresh)
	open := func(g target) int {
		daemon, _ := a.processes(g)
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", daemon))
		if err != nil {
			a.t.Error(err)
		}
		return len(entries)
	}
	for _, g := range []target{g, fresh} {
		runnertest.Until(a.t, g.name+" answers", func() bool {
			_, _, code := a.pyplug("call", g.name, "echo", fmt.Sprint("settled-", rand.Int()))
			return code == 0
		})
	}
	if !runnertest.Soon(func() bool { return open(g) <= open(fresh) }) {
		a.t.Errorf("%s has %d descriptors open, a fresh daemon %d", g.name, open(g), open(fresh))
	}
}

// end stops everything, and checks that every answer matches the record, and that nothing is left.
func (a *attack) end() {
	if _, errs, code := a.pyplug("stop", "--all"); code != 0 {
		a.t.Errorf("stop --all: exit code %d, %s", code, errs)
	}
	a.kept.Wait()
	text, err := os.ReadFile(a.record)
	if err != nil {
		a.t.Fatal(err)
	}
	began := map[string]int{}
	for _, token := range strings.Fields(string(text)) {
		if began[token]++; began[token] == 2 {
			a.t.Errorf("the call %s was made twice", token)
		}
	}
	for token, got := range a.answers {
		switch n := began[token]; {
		case got.ok && n == 0 && !strings.HasPrefix(token, "grpc"):
			a.t.Errorf("the call %s was answered and not made", token)
		case !got.begun && n > 0:
			a.t.Errorf("the call %s was made, and reported as not begun", token)
		}
	}
	for dir, what := range map[string]string{a.run: "run directory", a.temp: "temporary directory"} {
		left, err := os.ReadDir(dir)
		left = slices.DeleteFunc(left, func(e fs.DirEntry) bool { return dir == a.run && filepath.Ext(e.Name()) == ".log" }) // kept for `pyplug logs`
		if err != nil || len(left) > 0 {
			a.t.Errorf("left in the %s: %v, %v", what, left, err)
		}
	}
	if races, _ := filepath.Glob(a.races + "*"); len(races) > 0 { // the pattern is valid
		text, _ := os.ReadFile(races[0])
		a.t.Errorf("%d data races, the first:\n%s", len(races), text)
	}
	a.t.Logf("%d calls, the latest %v after its limit: %v", len(a.answers), max(0, a.latest), a.counts)
}
