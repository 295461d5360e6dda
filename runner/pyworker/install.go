package pyworker

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/pyplug/pyplug/runner/proc"
)

//go:embed worker/*.py
var sources embed.FS

// boot is the code that Python is started with. It imports the core from the
// worker's directory, which is its first argument, and leaves no trace of either.
//
//go:embed worker/boot.txt
var boot string

// parts returns the worker's files by the names they are installed under.
func parts() map[string][]byte {
	entries, err := sources.ReadDir("worker")
	if err != nil {
		panic(err) // the directory is embedded
	}
	files := make(map[string][]byte)
	for _, e := range entries {
		text, err := sources.ReadFile("worker/" + e.Name())
		if err != nil {
			panic(err)
		}
		files["_pyplug_"+e.Name()] = text
	}
	return files
}

// install puts the worker's files where Python can import them, and returns the
// directory. It is done once in a process.
var install = sync.OnceValues(func() (string, error) {
	files := parts()
	dir, err := cacheDir(files)
	if err == nil {
		err = write(dir, files)
	}
	if err == nil {
		return dir, nil
	}
	// No home, a full or read-only disk, a cache of somebody else: the worker
	// then lives as long as this process, and its byte code with it.
	temp, tempErr := proc.TempDir()
	if tempErr != nil {
		return "", errors.Join(err, tempErr)
	}
	dir = filepath.Join(temp, "worker")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, write(dir, files)
})

// cacheDir makes the directory that is named after the files' content, so that
// versions of pyplug never meet in one, and nothing in it ever changes. Python
// runs what is there: it must be ours alone.
func cacheDir(files map[string][]byte) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%s %d\n", name, len(files[name]))
		sum.Write(files[name])
	}
	base := filepath.Join(cache, "pyplug")
	dir := filepath.Join(base, "worker-"+hex.EncodeToString(sum.Sum(nil))[:12])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for _, d := range []string{base, dir} {
		if err := private(d); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// write makes dir hold the files, each replaced whole.
func write(dir string, files map[string][]byte) error {
	for name, text := range files {
		path := filepath.Join(dir, name)
		have, err := os.ReadFile(path)
		if err == nil && bytes.Equal(have, text) {
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := replace(dir, path, text); err != nil {
			return err
		}
	}
	return nil
}

// replace writes beside path and renames, so that a process which starts at the
// same time reads the old file or the new one and never a part.
func replace(dir, path string, text []byte) error {
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
