package interp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pyplug/pyplug/interp/bounded"
)

// cached is what a Python said of itself, while its files are as they were.
type cached struct {
	Path, Real, Stamp, Config string
	Version                   Version
	Implementation            string
}

// cacheFile is where the answer of a Python is kept, and what it is valid for; "" if it
// cannot be kept.
func (f *finder) cacheFile(path string) (file string, valid cached) {
	real := resolve(path)
	valid = cached{Path: path, Real: real, Stamp: stamp(real)}
	if f.Cache == "" || valid.Stamp == "" {
		return "", cached{}
	}
	if _, env, ok := findConfig(path); ok {
		valid.Config = stamp(filepath.Join(env, "pyvenv.cfg"))
	}
	sum := sha256.Sum256([]byte(path + "\x00" + real + "\x00" + runtime.GOOS + runtime.GOARCH))
	return filepath.Join(f.Cache, hex.EncodeToString(sum[:])+".json"), valid
}

// remembered is the answer that a Python gave before, if it has not changed since.
func (f *finder) remembered(path string) (Version, string, bool) {
	file, valid := f.cacheFile(path)
	if file == "" {
		return Version{}, "", false
	}
	text, err := bounded.Head(file, maxFile)
	var c cached
	if err != nil || json.Unmarshal([]byte(text), &c) != nil || !c.Version.Known() {
		return Version{}, "", false
	}
	v, implementation := c.Version, c.Implementation
	c.Version, c.Implementation = Version{}, ""
	return v, implementation, c == valid
}

// remember keeps an answer. Nothing depends on it: a cache that cannot be written is none.
func (f *finder) remember(path string, v Version, implementation string) {
	file, c := f.cacheFile(path)
	if file == "" || os.MkdirAll(f.Cache, 0o700) != nil {
		return
	}
	c.Version, c.Implementation = v, implementation
	text, _ := json.Marshal(c) // cannot fail
	temporary, err := os.CreateTemp(f.Cache, "new-*")
	if err != nil {
		return
	}
	_, err = temporary.Write(text)
	if closed := temporary.Close(); err != nil || closed != nil || os.Rename(temporary.Name(), file) != nil {
		_ = os.Remove(temporary.Name()) // is only a file too many
	}
}
