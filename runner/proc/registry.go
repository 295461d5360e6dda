package proc

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pyplug/pyplug/runner/proc/guard"
)

// running is everything that this pyplug runs.
var running = registry{
	run:  fmt.Sprintf("%016x", rand.Uint64()),
	live: map[*Process]struct{}{},
}

type registry struct {
	run   string // random digits
	count atomic.Uint32

	// Each start holds starting for reading until the process is in live. Otherwise a
	// sweep would treat the process as an orphan.
	starting sync.RWMutex

	mu          sync.Mutex // protects the next two; guardMu is never locked while mu is held
	live        map[*Process]struct{}
	stopReaping func() // stops the reaping of dead orphans; nil while no process lives

	guardMu sync.Mutex    // of the two below; held while a guard is started
	guard   *guardProcess // nil without one
	temp    string        // our temporary directory; "" without one
}

// element is the element of the n-th process in [guard.Tag]. All are of the same length.
func (r *registry) element(n uint32) string { return fmt.Sprintf("%s.%08x", r.run, n) }

// add registers a new process.
func (r *registry) add(p *Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live[p] = struct{}{}
	if r.stopReaping == nil {
		r.stopReaping = reapOrphans()
	}
}

// protect tells the guard of a new process, which already runs: it does not wait for that, and
// needs longer to escape the lifeline.
func (r *registry) protect(p *Process) {
	r.guardMu.Lock()
	defer r.guardMu.Unlock()
	if r.guard.alive() {
		r.guard.sendGroup(guard.Group, p.tree.pid)
	} else {
		r.startGuard()
	}
}

func (r *registry) remove(p *Process) {
	r.mu.Lock()
	delete(r.live, p)
	if len(r.live) == 0 && r.stopReaping != nil {
		r.stopReaping()
		r.stopReaping = nil
	}
	r.mu.Unlock()
	if guardNeedsGroups {
		r.guardMu.Lock()
		r.guard.sendGroup(guard.GroupEnded, p.tree.pid)
		r.guardMu.Unlock()
	}
}

// processes returns the processes that live.
func (r *registry) processes() []*Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.live))
}

// find returns the process with a pid, or nil.
func (r *registry) find(pid int) *Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.live {
		if p.tree.pid == pid {
			return p
		}
	}
	return nil
}

// startGuard starts a guard. If that fails, only the lifeline protects.
func (r *registry) startGuard() {
	r.guard = startGuard(r.run)
	if r.temp != "" {
		r.guard.send(guard.Temp + r.temp)
	}
	for _, p := range r.processes() {
		r.guard.sendGroup(guard.Group, p.tree.pid)
	}
}

// Close kills what still runs, ends the guard and removes the temporary directory.
// It may be called more than once; a later Start or TempDir begins anew.
func Close() {
	var all sync.WaitGroup
	for _, p := range running.processes() {
		p.forceStop(false)
		all.Go(func() { p.Kill() })
	}
	all.Wait()
	running.guardMu.Lock()
	defer running.guardMu.Unlock()
	if running.temp != "" {
		os.RemoveAll(running.temp)
		running.temp = ""
	}
	running.guard.end()
	running.guard = nil
}

// TempDir returns a private directory for this pyplug's temporary files. It creates the
// directory on first use, in /tmp if its path would have more than maxLen bytes elsewhere: a
// long TMPDIR leaves no room for the name of a socket. [Close] removes it with its content; if
// pyplug is killed, the guard does.
func TempDir(maxLen int) (string, error) {
	r := &running
	r.guardMu.Lock()
	defer r.guardMu.Unlock()
	if info, err := os.Lstat(r.temp); err == nil && info.IsDir() {
		return r.temp, nil
	}
	parent := os.TempDir()
	if len(parent)+len("/pyplug-1234567890") > maxLen && runtime.GOOS != "windows" {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "pyplug-") // mode 0700
	if err != nil {
		return "", fmt.Errorf("temporary directory: %w", err)
	}
	r.temp = dir
	if r.guard.alive() {
		r.guard.send(guard.Temp + dir)
	} else {
		r.startGuard() // now, and not after the first process: pyplug may be killed by then
	}
	return dir, nil
}
