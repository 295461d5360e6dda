package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// pollEvery is how often a name is checked while somebody waits for it.
	pollEvery = 10 * time.Millisecond
	// takeLimit bounds the wait for a process that has the name but does not accept
	// connections: it is just starting or just ending.
	takeLimit = 2 * time.Second
)

// place is where the files of one name are.
type place struct{ dir, name, socket string }

func (p place) file(end string) string { return filepath.Join(p.dir, p.name+end) }
func (p place) lock() string           { return p.file(".lock") }
func (p place) state() string          { return p.file(".json") }
func (p place) log() string            { return p.file(".log") }

// places are where the files of a name can be, the preferred place first.
func places(name string) ([]place, error) {
	if !supported {
		return nil, unavailable(errWindows)
	}
	if !ValidName(name) {
		return nil, noName(name)
	}
	var all []place
	var shortest string
	for _, dir := range RunDirs() {
		socket, ok := socketPath(dir, name)
		if ok {
			all = append(all, place{dir, name, socket})
		}
		shortest = socket
	}
	if len(all) > 0 {
		return all, nil
	}
	hint := "name a shorter directory with PYPLUG_RUN_DIR"
	if len(name) > len(filepath.Dir(shortest)) {
		hint = "--name gives it a shorter name"
	}
	return nil, fail(hook.Usage, "", fmt.Sprintf("%s is too long for the path of a socket: it has %d bytes, want at most %d",
		shortest, len(shortest), maxSocket), hint)
}

// makePlace makes the directory of the first place where it can be made. It fails at
// a directory that another user could change.
func makePlace(all []place) (place, error) {
	var first error
	for _, p := range all {
		err := makeDir(p.dir)
		if err == nil {
			return p, nil
		}
		if first == nil {
			first = err
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			break
		}
	}
	return place{}, refused(first)
}

// existing are the places whose directory exists. The error is that of a directory
// that cannot be used; it comes with the places that can.
func existing(all []place) (there []place, err error) {
	for _, p := range all {
		switch e := checkDir(p.dir); {
		case e == nil:
			there = append(there, p)
		case !errors.Is(e, fs.ErrNotExist) && err == nil:
			err = refused(e)
		}
	}
	return there, err
}

// search returns the existing places of a name.
func search(name string) ([]place, error) {
	all, err := places(name)
	if err != nil {
		return nil, err
	}
	return existing(all)
}

// namesIn lists the names that have files in a directory.
func namesIn(dir string) ([]string, error) {
	if err := checkDir(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		name, end, _ := strings.Cut(f.Name(), ".")
		if ValidName(name) && !strings.HasPrefix(end, "log") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// readState reads who serves the name, or did.
func (p place) readState() (Identity, error) {
	var id Identity
	f, err := openFile(p.state(), os.O_RDONLY)
	if err != nil {
		return id, err
	}
	text, err := io.ReadAll(f)
	_ = f.Close()
	if err == nil {
		err = json.Unmarshal(text, &id)
	}
	if err != nil {
		return Identity{}, fmt.Errorf("%s: %w", p.state(), err)
	}
	return id, nil
}

// writeState replaces the state file atomically.
func (p place) writeState(id Identity) error {
	text, err := json.MarshalIndent(id, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(p.dir, p.name+".json.*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), p.state())
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// clear removes the files of the name except its lock and its log. The caller holds
// the lock.
func (p place) clear() {
	_ = os.Remove(p.socket)
	_ = os.Remove(p.state())
	left, _ := filepath.Glob(p.file(".json.*"))
	for _, name := range left {
		_ = os.Remove(name)
	}
}

// clearLog removes the log.
func (p place) clearLog() {
	_ = os.Remove(p.log())
	_ = os.Remove(p.log() + older)
}

// answers reports whether a process listens at the socket.
func (p place) answers() bool {
	c, err := net.Dial("unix", p.socket)
	if err == nil {
		_ = c.Close()
	}
	return err == nil || busy(err)
}

// taken reports whether a process has the name: it holds the lock or, if the lock
// was removed, it listens at the socket.
func (p place) taken() bool { return p.locked() || p.answers() }

// awaitFree waits until nobody has the name, or until another process than had has
// it. It returns false if ctx ends first.
func (p place) awaitFree(ctx context.Context, had Identity) bool {
	again := time.NewTicker(pollEvery)
	defer again.Stop()
	for p.taken() {
		if now, err := p.readState(); err == nil && !now.same(had) {
			return true
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// clean removes what a dead daemon left, except its log, and reports whether it was
// dead.
func (p place) clean() bool {
	if p.taken() {
		return false
	}
	h, ok, err := p.acquire()
	if err != nil || !ok {
		return false
	}
	h.clear()
	h.release()
	return true
}
