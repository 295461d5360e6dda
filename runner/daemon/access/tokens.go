package access

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/schema"
)

const (
	// largestTokens is the size of the largest token file in bytes.
	largestTokens = 1 << 20
	// tokensEvery is the interval at which requests check whether the file has changed.
	tokensEvery = time.Second
)

// tokens are the tokens in a file. The file is read again when it changes.
type tokens struct {
	path string
	log  func(string)

	mu     sync.Mutex
	looked time.Time
	seen   fs.FileInfo // describes the file that was last read
	failed string      // the error of the last read, or ""
	all    [][sha256.Size]byte
}

func openTokens(path string, log func(string)) (*tokens, error) {
	t := &tokens{path: path, log: log, looked: time.Now()}
	return t, t.read()
}

// read reads the file. After an error the old tokens stay.
func (t *tokens) read() error {
	text, info, err := bounded.Read(t.path, largestTokens)
	if err != nil {
		return err
	}
	t.seen = info
	if open := info.Mode().Perm() & 0o007; open != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("%s has mode %#o, expected no permissions for other users, such as 0600", schema.Path(t.path), info.Mode().Perm())
	}
	var all [][sha256.Size]byte
	for line := range bytes.Lines(text) {
		if token := bytes.TrimSpace(line); len(token) > 0 {
			all = append(all, sha256.Sum256(token))
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("%s has no token, expected one on each line", schema.Path(t.path))
	}
	t.all = all
	return nil
}

// has reports whether the file contains a token. It takes the same time for every token.
func (t *tokens) has(token string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refresh()
	hash, found := sha256.Sum256([]byte(token)), 0
	for _, known := range t.all {
		found |= subtle.ConstantTimeCompare(hash[:], known[:])
	}
	return found == 1
}

// refresh reads the file again if it has changed. The caller holds mu.
func (t *tokens) refresh() {
	if time.Since(t.looked) < tokensEvery {
		return
	}
	t.looked = time.Now()
	info, err := os.Stat(t.path)
	if err == nil && isSame(info, t.seen) {
		return
	}
	if err == nil {
		err = t.read()
	}
	if err == nil {
		t.failed = ""
	} else if text := err.Error(); text != t.failed {
		t.failed = text
		t.log("the token file cannot be read again, and its old tokens stay valid: " + text)
	}
}

// isSame reports whether a file is the one that was seen before, unchanged.
func isSame(now, seen fs.FileInfo) bool {
	return os.SameFile(now, seen) && now.ModTime().Equal(seen.ModTime()) && now.Size() == seen.Size() && now.Mode() == seen.Mode()
}
