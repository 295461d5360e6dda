package env

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/schema"
)

// Record is the environment that pyplug made for a plugin.
type Record struct {
	// Dir is the environment's directory, or "" if there is none.
	Dir string
	// Stale says why the environment is out of date, or is "".
	Stale string
}

// record is the stored form. A path need not be UTF-8.
type record struct {
	Env    []byte `json:"env"`
	Kind   string `json:"kind"`
	Source []byte `json:"source"`
	// Size, Time and Digest show whether the source has changed. Includes reports that the source
	// includes other files.
	Size     int64     `json:"size"`
	Time     time.Time `json:"time"`
	Digest   string    `json:"digest"`
	Includes bool      `json:"includes,omitempty"`
}

// maxRecord bounds the size of a record, and of the marker of an environment.
const maxRecord = 64 << 10

func recordPath(cache, entry string) string {
	return filepath.Join(environments(cache), "plugins", digest(entry)+".json")
}

// record stores the environment for all plugins that share the source file, and for the plugin.
func (p Plan) record() error {
	content, err := json.Marshal(record{
		Env: []byte(p.Dir), Kind: p.Source.Kind, Source: []byte(p.Source.Path),
		Size: p.Source.info.Size(), Time: p.Source.info.ModTime(), Digest: p.Source.digest, Includes: p.Source.includes,
	})
	if err != nil {
		return err
	}
	for _, entry := range []string{p.Source.shared(), p.request.Entry} {
		path := recordPath(p.request.Cache, entry)
		old, _, err := bounded.Read(path, maxRecord)
		if p.request.Cache == "" || entry == "" || err == nil && bytes.Equal(old, content) {
			continue // an equal one is not written, so a read-only cache works, too
		}
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = bounded.Replace(path, content, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Lookup returns the environment that pyplug made for the plugin at entry. If there is none, or
// it is out of date, Lookup returns the environment of another plugin with the same source in
// dirs.
func Lookup(cache, entry string, dirs []string) Record {
	own := lookUp(cache, entry)
	if own.Dir != "" && own.Stale == "" {
		return own
	}
	i := slices.IndexFunc(dirs, func(dir string) bool { return bounded.Exists(recordPath(cache, dir)) })
	if i < 0 || SourceOf(entry, dirs).shared() != dirs[i] { // the plugin uses another source
		return own
	}
	if found := lookUp(cache, dirs[i]); own.Dir == "" || found.Dir != "" && found.Stale == "" {
		return found
	}
	return own
}

// lookUp reads the record of a plugin, or of those below a directory.
func lookUp(cache, entry string) Record {
	r, _ := readJSON[record](recordPath(cache, entry)) // the next sync writes a broken one anew
	return r.look(cache)
}

// readJSON reads a record, or the marker of an environment. It returns false if there is none.
func readJSON[T record | mark](path string) (value T, ok bool) {
	content, _, err := bounded.Read(path, maxRecord)
	ok = err == nil && schema.Decode(content, &value) == nil
	return value, ok
}

// look returns the environment of a record, and whether it is out of date. For .venv beside the
// source it also reads the marker. If the source was touched or includes other files, it reads
// the source, too.
func (r record) look(cache string) Record {
	found, source := Record{Dir: string(r.Env)}, string(r.Source)
	if found.Dir == "" {
		return found
	}
	if filepath.Dir(found.Dir) != environments(cache) {
		now, ours := readJSON[mark](filepath.Join(found.Dir, marker))
		if !ours {
			return Record{} // .venv beside the plugin was removed or replaced
		}
		if now.Digest != r.Digest {
			found.Stale = "was replaced by that of " + now.Source
			return found
		}
	}
	if _, err := os.Stat(python(found.Dir)); err != nil {
		found.Stale = "is gone"
		return found
	}
	info, err := os.Stat(source)
	if err == nil && !r.Includes && info.Size() == r.Size && info.ModTime().Equal(r.Time) {
		return found
	}
	now, err := readSource(Source{Kind: r.Kind, Path: source})
	switch {
	case errors.Is(err, errNone):
		return Record{} // the source asks for nothing any more
	case err != nil || now.digest != r.Digest:
		found.Stale = fmt.Sprintf("is older than the last change of %s", source)
		if r.Includes {
			found.Stale += " or of a file that it includes"
		}
	}
	return found
}
