package proc

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner/proc/guard"
)

// tidyEvery is how often the dead orphans of living processes are reaped.
const tidyEvery = 30 * time.Second

// held is what one pyplug holds for all its processes.
var held = holdings{
	run:  guard.NewRun(rand.Uint64()),
	live: map[*Process]struct{}{},
	temp: map[string]string{},
}

type holdings struct {
	run   guard.Run
	count atomic.Uint32

	// planting is held for reading while a process is started that is not yet
	// in live.
	planting sync.RWMutex

	mu   sync.Mutex // of the two below; watch is never taken while it is held
	live map[*Process]struct{}
	tidy *time.Timer // runs while something lives

	watch sync.Mutex        // of the fields below; held while a guard is started
	guard *sentry           // nil without one
	temp  map[string]string // our directories, by those that they are in
}

// next numbers a process; from 1, since the guard's 0 is any.
func (h *holdings) next() uint32 {
	for {
		if n := h.count.Add(1); n&(1<<24-1) != 0 {
			return n & (1<<24 - 1)
		}
	}
}

// add takes a process that was just started into the books, and sees to the
// guard in the background: a start is not to wait for one, and what could
// escape the lifeline needs longer than that to begin.
func (h *holdings) add(p *Process) {
	h.mu.Lock()
	h.live[p] = struct{}{}
	if h.tidy == nil {
		h.tidy = time.AfterFunc(tidyEvery, h.tidyUp)
	}
	h.mu.Unlock()
	if h.watch.TryLock() {
		guarded := h.guard.alive()
		if guarded {
			h.guard.note(guard.Group, p.tree.pid)
		}
		h.watch.Unlock()
		if guarded {
			return
		}
	}
	go func() {
		h.watch.Lock()
		defer h.watch.Unlock()
		if h.busy() {
			h.post()
			h.guard.note(guard.Group, p.tree.pid)
		}
	}()
}

func (h *holdings) remove(p *Process) {
	h.mu.Lock()
	delete(h.live, p)
	if len(h.live) == 0 && h.tidy != nil {
		h.tidy.Stop()
		h.tidy = nil
	}
	h.mu.Unlock()
	if tellsGroups {
		h.watch.Lock()
		h.guard.note(guard.Left, p.tree.pid)
		h.watch.Unlock()
	}
}

// tidyUp reaps the orphans that have died meanwhile, which a process that lives
// long may leave in any number, and comes again as long as something lives.
func (h *holdings) tidyUp() {
	reapOrphans()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tidy != nil {
		h.tidy.Reset(tidyEvery)
	}
}

// leads tells whether pid is a process that Start started and that is not over.
func (h *holdings) leads(pid int) bool { return h.leader(pid) != nil }

// leader is that process, nil when there is none.
func (h *holdings) leader(pid int) *Process {
	h.mu.Lock()
	defer h.mu.Unlock()
	for p := range h.live {
		if p.tree.pid == pid {
			return p
		}
	}
	return nil
}

func (h *holdings) busy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.live) > 0
}

// post sees that a guard is there. Without one pyplug works on, with the
// lifeline alone.
func (h *holdings) post() {
	if h.guard.alive() {
		return
	}
	h.guard = newSentry(h.run)
	for _, dir := range h.temp {
		h.guard.tell(guard.Temp + dir)
	}
	if !tellsGroups {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for p := range h.live {
		h.guard.note(guard.Group, p.tree.pid)
	}
}

// TempDir is a directory for this pyplug's temporary files, which nobody else
// may read. It is made on first use, and removed with all that is in it by
// [Close], or by the guard when pyplug is killed.
func TempDir() (string, error) { return held.tempIn(os.TempDir()) }

// ShortTempDir is TempDir when its path has at most so many bytes, and such a
// directory in /tmp when it has more: a long TMPDIR leaves no room for the name of
// a socket.
func ShortTempDir(most int) (string, error) {
	dir, err := TempDir()
	if err != nil || len(dir) <= most || runtime.GOOS == "windows" {
		return dir, err
	}
	short, err := held.tempIn("/tmp")
	if err != nil {
		return "", fmt.Errorf("%s is too long, and there is no shorter one: %w", dir, err)
	}
	return short, nil
}

// tempIn is our directory in another one.
func (h *holdings) tempIn(parent string) (string, error) {
	h.watch.Lock()
	defer h.watch.Unlock()
	dir := h.temp[parent]
	if info, err := os.Lstat(dir); dir != "" && err == nil && info.IsDir() {
		return dir, nil
	}
	h.post()
	dir, err := os.MkdirTemp(parent, "pyplug-") // mode 0700
	if err != nil {
		return "", fmt.Errorf("temporary directory: %w", err)
	}
	h.temp[parent] = dir
	h.guard.tell(guard.Temp + dir)
	return dir, nil
}

// Close kills what still runs, ends the guard and removes the temporary
// directories. It may be called more than once; a Start or TempDir that follows
// begins anew.
func Close() {
	h := &held
	h.mu.Lock()
	var all sync.WaitGroup
	for p := range h.live {
		p.skip(false)
		all.Go(func() { p.Kill() })
	}
	h.mu.Unlock()
	all.Wait()
	h.watch.Lock()
	defer h.watch.Unlock()
	for _, dir := range h.temp {
		os.RemoveAll(dir)
	}
	clear(h.temp)
	h.guard.end()
	h.guard = nil
}
