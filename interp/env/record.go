package env

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pyplug/pyplug/interp/bounded"
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

// record stores the environment for the plugin and for all other plugins that share its source
// file.
func (p Plan) record() error {
	if p.request.Cache == "" {
		return nil
	}
	if shared := p.Source.shared(); shared != "" {
		if err := p.recordAs(shared); err != nil {
			return err
		}
	}
	return p.recordAs(p.request.Entry)
}

// recordAs stores the environment of a plugin, or of the plugins below a directory.
func (p Plan) recordAs(entry string) error {
	content, err := json.Marshal(record{
		Env: []byte(p.Dir), Kind: p.Source.Kind, Source: []byte(p.Source.Path),
		Size: p.Source.info.Size(), Time: p.Source.info.ModTime(), Digest: p.Source.digest, Includes: p.Source.includes,
	})
	if err != nil {
		return err
	}
	path := recordPath(p.request.Cache, entry)
	if old, _, err := bounded.Read(path, maxRecord); err == nil && bytes.Equal(old, content) {
		return nil // no write, so a read-only cache works, too
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return bounded.Replace(path, content, 0o600)
}

// Lookup returns the environment that pyplug made for the plugin at entry. If there is none, or
// it is out of date, Lookup returns the environment of another plugin with the same source in
// dirs.
func Lookup(cache, entry string, dirs []string) Record {
	own := lookUp(cache, entry)
	if own.Dir != "" && own.Stale == "" {
		return own
	}
	for _, dir := range dirs {
		if _, err := os.Stat(recordPath(cache, dir)); err != nil {
			continue
		}
		if SourceOf(entry, dirs).shared() != dir {
			break // the plugin uses another source
		}
		if found := lookUp(cache, dir); own.Dir == "" || found.Dir != "" && found.Stale == "" {
			return found
		}
		break
	}
	return own
}

// lookUp reads the record of a plugin, or of those below a directory.
func lookUp(cache, entry string) Record {
	content, _, err := bounded.Read(recordPath(cache, entry), maxRecord)
	if err != nil {
		return Record{}
	}
	var r record
	if json.Unmarshal(content, &r) != nil || len(r.Env) == 0 {
		return Record{} // the next sync writes it anew
	}
	return r.look(cache)
}

// look returns the environment of a record, and whether it is out of date. For .venv beside the
// source it also reads the marker. If the source was touched or includes other files, it reads
// the source, too.
func (r record) look(cache string) Record {
	found, source := Record{Dir: string(r.Env)}, string(r.Source)
	if filepath.Dir(found.Dir) != environments(cache) {
		now, ours := readMark(found.Dir)
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
