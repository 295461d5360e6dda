package pyworker

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

//go:embed worker/*.py
var files embed.FS

// boot is the body of the first frame, which runBoot executes.
//
//go:embed worker/boot.py
var boot []byte

// SearchPath is a Python program that defines search_path: where Python looks for modules,
// by the words of a [pysrc.Place].
//
//go:embed worker/paths.py
var SearchPath string

// runBoot is the code that Python is started with. One read returns the whole frame,
// which is shorter than what a pipe writes at once.
const runBoot = `import os;exec(compile(os.read(0,4096)[9:],"<pyplug boot>","exec"),{})`

// source holds the worker's parts: the name and the text of each, with a NUL between.
var source = sync.OnceValue(func() []byte {
	entries, err := files.ReadDir("worker")
	if err != nil {
		panic(err) // the directory is embedded
	}
	var parts [][]byte
	for _, e := range entries {
		text, err := files.ReadFile("worker/" + e.Name())
		if err != nil {
			panic(err)
		}
		parts = append(parts, []byte(strings.TrimSuffix(e.Name(), ".py")), text)
	}
	return bytes.Join(parts, []byte{0})
})

// Identity is the same for the same source of the worker.
var Identity = sync.OnceValue(func() string {
	sum := sha256.Sum256(source())
	return hex.EncodeToString(sum[:8])
})

// cache returns the beginning of the names of the files in which Pythons keep the
// worker's byte code, one for each version of Python. Whatever removes or replaces such
// a file, a worker that runs does not need it, and the next one makes it again. Python
// runs what is there: the directory must be ours alone.
func cache() (string, error) {
	dir, err := CacheDir()
	return filepath.Join(dir, "worker-"), err
}

// CacheDir returns pyplug's directory in the user's cache, which is made if need be. It
// belongs to the user alone.
func CacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "pyplug")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, private(dir)
}
