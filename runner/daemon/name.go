package daemon

import (
	"cmp"
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
	"syscall"
	"time"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

const (
	// pollEvery is the interval at which a name is checked while a caller waits for it.
	pollEvery = 10 * time.Millisecond
	// takeLimit limits the wait for a process that has the name but does not accept connections,
	// because it is just starting or just ending.
	takeLimit = 2 * time.Second
	// maxSocket is the longest path of a socket that every system accepts: macOS has 104 bytes with
	// the NUL, Linux 108.
	maxSocket = 103
)

// API is the version of the socket's protocol. Every message has it in the header Pyplug-Api.
const API = 1

// Identity describes the daemon of a name and its plugin. It is the content of
// NAME.json. [Listen] sets API, PID, Started, Log and Socket.
type Identity struct {
	Name string `json:"name"`
	// Plugin is the plugin's path as typed, Entry the absolute path of the file that runs, Python
	// the interpreter's path, Dir the working directory.
	Plugin    schema.Path `json:"plugin"`
	Entry     schema.Path `json:"entry"`
	Python    schema.Path `json:"python,omitempty"`
	Transport string      `json:"transport,omitempty"`
	Dir       schema.Path `json:"dir,omitempty"`
	// About names the plugin and its Python, in the form that errors use.
	About string `json:"about,omitempty"`
	// Digest is equal for two starts with the same settings.
	Digest string `json:"digest,omitempty"`
	// Version is the version of the running pyplug. API is the version of its protocol, or 0 for a
	// pyplug from before HTTP.
	Version string    `json:"version,omitempty"`
	API     int       `json:"api,omitempty"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	// AutoStarted reports whether a call started the plugin.
	AutoStarted bool        `json:"auto_started,omitempty"`
	Log         schema.Path `json:"log"`
	Socket      schema.Path `json:"socket"`
}

// same reports whether two identities describe the same process.
func (id Identity) same(other Identity) bool {
	return id.PID == other.PID && id.Started.Equal(other.Started)
}

// ValidName reports whether a background plugin can have the name: [a-z0-9][a-z0-9_-]*. A valid
// name cannot be a path or a flag.
func ValidName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == "" && name[0] != '_' && name[0] != '-'
}

// place is the location of the files of one name.
type place struct{ dir, name string }

func (p place) file(suffix string) string { return filepath.Join(p.dir, p.name+suffix) }
func (p place) socket() string            { return p.file(".sock") }
func (p place) state() string             { return p.file(".json") }
func (p place) log() string               { return p.file(".log") }

// places returns the possible locations of a name's files, the preferred one first.
func places(name string) ([]place, error) {
	if !ValidName(name) {
		return nil, fail(hook.Usage, "", fmt.Sprintf("%q is not a name, expected lower case letters, digits, - and _", name))
	}
	var all []place
	var p place
	for _, dir := range RunDirs() {
		if p = (place{dir, name}); len(p.socket()) <= maxSocket {
			all = append(all, p)
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	hint := schema.Hintf("set PYPLUG_RUN_DIR to a shorter path")
	if len(name) > len(p.dir) {
		hint = schema.Hintf("choose a shorter name with %s", schema.Setting("name"))
	}
	return nil, fail(hook.Usage, "", fmt.Sprintf("%s is too long for the path of a socket: it has %d bytes, expected at most %d",
		p.socket(), len(p.socket()), maxSocket), hint)
}

// search returns the places of a name whose directories exist. It returns the error of [existing].
func search(name string) ([]place, error) {
	all, err := places(name)
	if err != nil {
		return nil, err
	}
	dirs, _, err := existing(RunDirs())
	return slices.DeleteFunc(all, func(p place) bool { return !slices.Contains(dirs, p.dir) }), err
}

// readState reads the identity of the name's current or last daemon.
func (p place) readState() (id Identity, err error) {
	f, err := openFile(p.state(), os.O_RDONLY)
	if err != nil {
		return id, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(f)
	if err == nil {
		err = schema.Decode(text, &id)
	}
	return id, err
}

// answers reports whether a process listens at the socket.
func (p place) answers() bool {
	c, err := net.Dial("unix", p.socket())
	if err == nil {
		_ = c.Close()
	}
	return err == nil || busy(err)
}

// busy reports whether a connect failed because too many connections wait to be
// accepted.
func busy(err error) bool { return errors.Is(err, syscall.EAGAIN) }

// locked reports whether a process holds the lock. While it checks, a concurrent acquire
// fails; its caller retries.
func (p place) locked() bool {
	f, err := openFile(p.state(), os.O_RDONLY)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return bounded.Locked(f)
}

// taken reports whether a process has the name: it holds the lock or, if the state file was
// removed, it listens at the socket.
func (p place) taken() bool { return p.locked() || p.answers() }

// held is an acquired name: its locked state file. The name is also released when the process ends.
type held struct {
	place
	file *os.File
	// also is the same name in another run directory, where the socket is a link. It is nil if
	// there is no other directory.
	also *held
}

// errTaken is the error of acquire if another process has the name.
var errTaken = errors.New("another process has the name")

// acquire acquires the name.
func (p place) acquire() (*held, error) {
	for {
		if p.answers() {
			return nil, errTaken
		}
		f, err := openFile(p.state(), os.O_RDWR|os.O_CREATE|noFollow) // following a link would loop: owns rejects links
		if err != nil {
			return nil, err
		}
		h := &held{place: p, file: f}
		if err = bounded.Lock(f); err == nil && h.owns() {
			return h, nil
		}
		_ = f.Close()
		switch {
		case errors.Is(err, bounded.ErrLocked):
			return nil, errTaken
		case err != nil:
			return nil, err
		}
		// The previous holder removed the file before it released the lock, so retry.
	}
}

// owns reports whether the name is still held: the state file is the locked one.
func (h *held) owns() bool {
	open, err := h.file.Stat()
	there, err2 := os.Lstat(h.state())
	return err == nil && err2 == nil && os.SameFile(open, there)
}

// write writes the identity to the state file.
func (h *held) write(id Identity) error {
	text, err := json.MarshalIndent(id, "", "  ")
	if err != nil {
		return err
	}
	if err := h.file.Truncate(0); err != nil {
		return err
	}
	_, err = h.file.WriteAt(append(text, '\n'), 0)
	return err
}

// release removes the files of the name, except its log, and releases the name. It removes the
// state file before it releases the lock. A process that has opened the removed file detects that
// in acquire.
func (h *held) release() {
	if h == nil {
		return
	}
	h.also.release()
	if h.owns() { // otherwise the files belong to a successor
		_ = os.Remove(h.socket())
		_ = os.Remove(h.state())
	}
	_ = h.file.Close()
}

// clean removes the files of a dead daemon, except its log, and reports whether the daemon was
// dead.
func (p place) clean() bool {
	h, err := p.acquire()
	if err != nil {
		return false
	}
	h.release()
	return true
}

// List returns the live daemons, sorted by name. If the state of a daemon cannot be read, only its
// Name is set. List removes the files of dead daemons, except their logs. If a directory cannot be
// used, List returns its error and the daemons of the other directories.
func List(ctx context.Context) (live []Identity, err error) {
	dirs, _, err := existing(RunDirs())
	for _, dir := range dirs {
		names, failed := namesIn(dir)
		err = cmp.Or(err, failed)
		for _, name := range names {
			if ctx.Err() != nil {
				return live, hook.Ended(ctx, "", "no list", false)
			}
			p := place{dir, name}
			if p.clean() {
				continue
			}
			id, _ := p.readState()
			id.Name = name
			live = append(live, id)
		}
	}
	slices.SortStableFunc(live, func(a, b Identity) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(live, func(a, b Identity) bool { return a.Name == b.Name && a.same(b) }), err
}

// namesIn lists the names that have files, other than a log, in a directory.
func namesIn(dir string) (names []string, err error) {
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the directory may have been removed meanwhile
		return nil, unavailable(err)
	}
	for _, f := range files {
		name, suffix, _ := strings.Cut(f.Name(), ".")
		if ValidName(name) && !strings.HasPrefix(suffix, "log") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}
