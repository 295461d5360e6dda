package pyworker

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/pyplug/pyplug/interp/bounded"
)

//go:embed worker/*.py
var files embed.FS

// boot is the body of the first frame, which runBoot executes.
//
//go:embed worker/boot.py
var boot []byte

// runBoot is the code with which Python is started. One read returns the whole frame,
// because the frame is so short that it is written to the pipe at once.
//
// exec compiles the text itself, because the function compile would first create all types of
// module ast, which takes 2 ms. On Windows, the code first turns the handles into descriptors.
func runBoot() string {
	const code = `import os,sys;pyplug={};exec(os.read(int(sys.argv[1].split()[0]),4096)[9:],pyplug);exec(pyplug["code"],pyplug)`
	if runtime.GOOS == "windows" {
		return `import msvcrt,sys;at=sys.argv[1].split();at[:2]=[str(msvcrt.open_osfhandle(int(one),0)) for one in at[:2]];sys.argv[1]=" ".join(at);` + code
	}
	return code
}

// sourceParts yields the names and the texts of the worker's parts.
func sourceParts() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		entries, err := files.ReadDir("worker")
		if err != nil {
			panic(err) // cannot happen, because the directory is embedded
		}
		for _, e := range entries {
			text, err := files.ReadFile("worker/" + e.Name())
			if err != nil {
				panic(err)
			}
			if !yield(strings.TrimSuffix(e.Name(), ".py"), text) {
				return
			}
		}
	}
}

// source returns the worker's parts: their names and texts, separated by NUL.
var source = sync.OnceValue(func() []byte {
	var parts [][]byte
	for name, text := range sourceParts() {
		parts = append(parts, []byte(name), text)
	}
	return bytes.Join(parts, []byte{0})
})

// Identity returns a hash of the worker's source.
var Identity = sync.OnceValue(func() string {
	sum := sha256.Sum256(source())
	return hex.EncodeToString(sum[:8])
})

// cache returns the common prefix of the paths of the files in which Python keeps the
// worker's byte code. Each version of Python has its own file. A running worker does not
// need the file, and the next one creates a missing file again. Python runs the content of the
// file, so only this user may write to the directory.
func cache() (string, error) {
	dir, err := CacheDir()
	return filepath.Join(dir, "worker-"), err
}

// CacheDir returns pyplug's directory in the user's cache, and creates it if it does not
// exist. It returns an error if other users can write to it.
func CacheDir() (string, error) {
	dir, err := bounded.UserCache()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, private(dir)
}

// private returns an error if another user owns a directory or may write to it. On Windows, the
// access list of a user's cache directory keeps others out.
func private(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case !bounded.IsOurs(info):
		return fmt.Errorf("%s belongs to user %d, expected user %d", dir, bounded.Owner(info), os.Geteuid())
	case info.Mode().Perm()&0o022 != 0 && runtime.GOOS != "windows":
		return fmt.Errorf("%s has mode %04o, expected no write permission for group and others", dir, info.Mode().Perm())
	}
	return nil
}
