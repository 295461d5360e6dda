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
	"github.com/pyplug/pyplug/runner/wire"
)

// place is where the files of one name are.
type place struct{ dir, name, socket string }

func (p place) file(end string) string { return filepath.Join(p.dir, p.name+end) }
func (p place) lock() string           { return p.file(".lock") }
func (p place) state() string          { return p.file(".json") }
func (p place) log() string            { return p.file(".log") }

// places are where a name may be, the preferred first. The error is of kind
// Usage for what is no name, and of kind Unavailable where there is no place.
func places(name string) ([]place, error) {
	if !supported {
		return nil, unavailable(errWindows)
	}
	if !wire.ValidName(name) {
		return nil, &hook.Error{Kind: hook.Usage, Err: fmt.Errorf(
			"%q is no name, want lower case letters, digits, - and _", name)}
	}
	var all []place
	var last string // the shortest
	for _, dir := range wire.RunDirs() {
		if socket, ok := wire.SocketPath(dir, name); ok {
			all = append(all, place{dir, name, socket})
		}
		last = dir
	}
	if len(all) == 0 {
		return nil, &hook.Error{Kind: hook.Usage, Err: &LongPathError{Dir: last, Name: name}}
	}
	return all, nil
}

// makePlace makes the directory of the preferred place that can be had. One that
// somebody has tampered with is refused, never passed over.
func makePlace(all []place) (place, error) {
	var first error
	for _, p := range all {
		err := wire.MakeDir(p.dir)
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

// seen are the places whose directory is there. The error is that of one which is
// not ours alone, and comes with those that are.
func seen(all []place) (there []place, err error) {
	for _, p := range all {
		switch e := wire.CheckDir(p.dir); {
		case e == nil:
			there = append(there, p)
		case !errors.Is(e, fs.ErrNotExist) && err == nil:
			err = refused(e)
		}
	}
	return there, err
}

// namesIn lists the names that have files in a directory; none when it is not
// there.
func namesIn(dir string) ([]string, error) {
	if err := wire.CheckDir(dir); err != nil {
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
		if wire.ValidName(name) && !strings.HasPrefix(end, "log") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// readState reads who serves a name, or did.
func (p place) readState() (Identity, error) {
	var id Identity
	f, err := openFile(p.state(), os.O_RDONLY)
	if err != nil {
		return id, err
	}
	text, err := io.ReadAll(f)
	_ = f.Close()
	if err != nil {
		return id, err
	}
	if err := json.Unmarshal(text, &id); err != nil {
		return Identity{}, fmt.Errorf("%s: %w", p.state(), err)
	}
	return id, nil
}

// writeState writes it, whole or not at all.
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
		_ = os.Remove(f.Name()) // what is told is why it was not written
	}
	return err
}

// clear removes the files of a name, but its lock and its log. Who calls it holds
// the lock.
func (p place) clear() {
	_ = os.Remove(p.socket)
	_ = os.Remove(p.state())
	left, _ := filepath.Glob(p.file(".json.*"))
	for _, name := range left {
		_ = os.Remove(name)
	}
}

// answers tells whether somebody listens at the socket.
func (p place) answers() bool {
	c, err := net.Dial("unix", p.socket)
	if err == nil {
		_ = c.Close()
	}
	return err == nil || busy(err)
}

// taken tells whether somebody has the name: holds its lock or, where that was
// removed, answers at its socket.
func (p place) taken() bool { return p.locked() || p.answers() }

// vacant waits until nobody has the name, or not who had it. It is false when ctx
// ends first.
func (p place) vacant(ctx context.Context, had Identity) bool {
	again := time.NewTicker(look)
	defer again.Stop()
	for p.taken() {
		if now, err := p.readState(); err == nil && !now.same(had) {
			return true // a successor has it
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// sameFile tells whether an open file is the one of a path.
func sameFile(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(open, there)
}

// clearLog removes the log.
func (p place) clearLog() {
	_ = os.Remove(p.log())
	_ = os.Remove(p.log() + older)
}
