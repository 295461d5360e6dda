package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/schema"
)

// Head says which calls a record keeps. It is the value of [lines.HeadKey] in the head line, the
// first line of a record. Another head line follows when Files changes.
type Head struct {
	Plugin string   `json:"plugin"`          // the name of the plugin
	Hook   string   `json:"hook,omitempty"`  // the hook of all lines, or empty if each line has its own
	Words  []string `json:"words,omitempty"` // the words after the hook, as typed
	Items  string   `json:"items,omitempty"` // the value of --items
	// Files is a digest of the plugin's files. It is empty if unknown.
	Files   string `json:"files,omitempty"`
	Version string `json:"version"` // the version of pyplug
}

// Record is a [lines.Record] that keeps the answers of calls in a file. The file is locked while it
// is open. Make a Record with [OpenRecord].
type Record struct {
	file     *os.File
	opened   os.FileInfo // describes file
	size     int64       // the size of the file, as far as Record has read and written it
	head     Head
	heads    []head        // the head lines, in order
	index    map[key]entry // the occurrences of calls that the file has or that Find has seen
	again    map[key]int   // how often Find has seen a call, if more than once
	outdated atomic.Int64
	page     page // reads lines of file
}

// OpenRecord opens a record and locks it. It creates the file if it does not exist, and removes an
// incomplete last line. The record must have the plugin, hook, items and words of head.
// [Record.Begin] compares the files. An error has kind [hook.Usage], or [hook.Unavailable] if
// another process has locked the record.
func OpenRecord(path string, head Head) (*Record, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, refused("%s is not a regular file", path)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, refused("%w", err)
	}
	r := &Record{file: file, head: head, index: map[key]entry{}, again: map[key]int{}, page: page{from: file}}
	if err = lock(file); err == nil {
		err = r.read()
	}
	if err == nil {
		r.opened, err = file.Stat()
	}
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	return r, nil
}

// lock locks the file of a record until it is closed.
func lock(file *os.File) error {
	err := bounded.Lock(file)
	if errors.Is(err, bounded.ErrLocked) {
		return hook.NewError(hook.Unavailable, fmt.Errorf("record: %s is in use by another process", file.Name()))
	}
	return err
}

// refused returns an error about a record that cannot be used.
func refused(format string, args ...any) error {
	return hook.NewError(hook.Usage, fmt.Errorf("record: "+format, args...))
}

// Begin sets the digest of the plugin's files. It writes a head line unless the last head line has
// the same digest.
func (r *Record) Begin(files string) error {
	r.head.Files = files
	if n := len(r.heads); n > 0 && r.heads[n-1].files == files {
		return nil
	}
	text, err := json.Marshal(map[string]Head{lines.HeadKey: r.head})
	if err == nil {
		_, err = r.Write(append(text, '\n'))
	}
	if err != nil {
		return lines.RecordFailed(err)
	}
	return nil
}

// Outdated returns how many of the answers that Find returned were recorded with other versions of
// the plugin's files.
func (r *Record) Outdated() int64 { return r.outdated.Load() }

// Write appends whole lines. It returns an error if something else has replaced or edited the file,
// because the lines may then be lost.
func (r *Record) Write(text []byte) (int, error) {
	n, err := r.file.Write(text)
	r.size += int64(n)
	if err != nil {
		return n, err
	}
	now, err := os.Stat(r.file.Name())
	if err != nil || !os.SameFile(now, r.opened) || now.Size() != r.size {
		return n, fmt.Errorf("%s was edited, replaced or removed while it was in use", r.file.Name())
	}
	return n, nil
}

// Close unlocks and closes the file.
func (r *Record) Close() error { return r.file.Close() }

// parseHead parses a head line.
func parseHead(line []byte) (Head, error) {
	var head map[string]Head
	err := schema.Decode(line, &head)
	if twice := schema.Twice(err); twice != nil {
		return Head{}, twice
	}
	if err != nil || len(head) != 1 {
		return Head{}, errors.New("the head line is not that of a record")
	}
	return head[lines.HeadKey], nil
}

// check parses a head line at an offset, and returns an error unless it belongs to the command of
// r.
func (r *Record) check(line []byte, at int64) error {
	got, err := parseHead(line)
	if err != nil {
		return err
	}
	want := r.head
	r.heads = append(r.heads, head{at, got.Files})
	for _, c := range []struct{ what, got, want string }{
		{"plugin is", got.Plugin, want.Plugin},
		{"hook is", got.Hook, want.Hook},
		{"--items is", got.Items, want.Items},
		{"words after HOOK are", schema.QuoteLine(got.Words), schema.QuoteLine(want.Words)},
	} {
		if c.got != c.want {
			return fmt.Errorf("it is a record of another command: its %s %s, now %s", c.what, shown(c.got), shown(c.want))
		}
	}
	return nil
}

// shown returns a word of a head for a message.
func shown(word string) string {
	if word == "" {
		return "not given"
	}
	return schema.Short(word)
}

// isTornHead reports whether text may be the start of a head line.
func isTornHead(text []byte) bool {
	return lines.IsHead(text) || bytes.HasPrefix([]byte(`{"`+lines.HeadKey+`":`), text)
}
