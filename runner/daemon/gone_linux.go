package daemon

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// watchFile puts a token into gone whenever a file was removed or renamed, until stop
// is called. It watches the directory, so that a file which is made again is watched,
// too, as long as the directory stays; the look at it every minute is for the rest. It
// takes one of the user's inotify instances, and wakes up for whatever is removed there.
// Where it can have none nothing is told.
func watchFile(path string, gone chan struct{}) (stop func()) {
	none := func() {}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return none
	}
	events := os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, filepath.Dir(path), unix.IN_DELETE|unix.IN_MOVED_FROM|unix.IN_ONLYDIR); err != nil {
		_ = events.Close()
		return none
	}
	done := make(chan struct{})
	go func() { // ends with events
		defer close(done)
		buf := make([]byte, 4<<10) // for one event at least
		for {
			n, err := events.Read(buf)
			if err != nil {
				return
			}
			if names(buf[:n], filepath.Base(path)) {
				wake(gone)
			}
		}
	}()
	return func() {
		_ = events.Close()
		<-done
	}
}

// names tells whether one of some events is, or may be, of a file.
func names(events []byte, file string) bool {
	for len(events) >= unix.SizeofInotifyEvent {
		mask, length := binary.NativeEndian.Uint32(events[4:]), binary.NativeEndian.Uint32(events[12:])
		end := unix.SizeofInotifyEvent + int(length)
		if end > len(events) {
			return true // which no system does
		}
		name, _, _ := bytes.Cut(events[unix.SizeofInotifyEvent:end], []byte{0})
		if string(name) == file || mask&unix.IN_Q_OVERFLOW != 0 {
			return true
		}
		events = events[end:]
	}
	return false
}
