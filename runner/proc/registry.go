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

// running contains all processes of this pyplug.
var running = registry{
	run:  fmt.Sprintf("%016x", rand.Uint64()),
	live: map[*Process]struct{}{},
}

type registry struct {
	run   string // random digits
	count atomic.Uint32

	// Each start holds starting for reading until the process is in live. Otherwise a sweep would
	// treat the process as an orphan.
	starting sync.RWMutex

	mu          sync.Mutex // protects live and stopReaping; guardMu is never locked while mu is held
	live        map[*Process]struct{}
	stopReaping func() // stops the reaping of dead orphans, or nil while no process lives

	guardMu sync.Mutex    // protects guard and temp; held while a guard is started
	guard   *guardProcess // nil without a guard
	temp    string        // the temporary directory, or ""
}

// element returns the element of the n-th process in [guard.Tag]. All elements have the same
// length.
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

// protect reports a new process to the guard. The process already runs, but it cannot escape the
// lifeline so soon.
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

// startGuard starts a guard. If that fails, only the lifeline protects the processes.
func (r *registry) startGuard() {
	r.guard = startGuard(r.run)
	if r.temp != "" {
		r.guard.send(guard.Temp + r.temp)
	}
	for _, p := range r.processes() {
		r.guard.sendGroup(guard.Group, p.tree.pid)
	}
}

// Close kills all running processes, ends the guard and removes the temporary directory. It may be
// called more than once. A later Start or TempDir begins anew.
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

// TempDir returns a private directory for this pyplug's temporary files. It creates the directory
// on first use. If its path would have more than maxLen bytes, it is in /tmp, because a long TMPDIR
// leaves no room for the name of a socket. [Close] removes it with its content. If pyplug is
// killed, the guard does.
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
		r.startGuard() // now, not after the first process, because pyplug may be killed before that
	}
	return dir, nil
}
