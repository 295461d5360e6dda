package cases

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestUpdateRefused checks that Update does not change the file and leaves no temporary file if the
// disk is full or read-only.
func TestUpdateRefused(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=700"); err != nil {
		t.Skip("no file system of our own: ", err)
	}
	defer func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }()
	path, fill := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "fill")
	text := strings.Repeat(`{"hook": "f", "result": 1}`+"\n", 500)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := Parse(path, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	update := func() error {
		f := &FileResult{File: file, Count: map[Status]int{Updated: file.Len()}}
		for c := range file.All() {
			f.Differing = append(f.Differing, &Result{Case: c, Status: Updated, Failure: c.check(valueOf("2", false), 0)})
		}
		err := f.Update()
		if wrote := f.Count[Updated] == file.Len() && f.Differing[0].Status == Updated; wrote != (err == nil) {
			t.Errorf("%v, but the count is %v", err, f.Count)
		}
		return err
	}
	refused := func(err error, kind hook.Kind, want string, cause error) {
		t.Helper()
		if err == nil || hook.AsError(err).Kind != kind || !errors.Is(err, cause) || !strings.HasPrefix(err.Error(), "--update: "+path+want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want %s", err, cause)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%v, the file has %d bytes, want %d", err, len(got), len(text))
		}
		if left, err := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 || err != nil {
			t.Errorf("%v are left", left)
		}
	}
	if err := Updatable(path); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(fill, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Skip("it does not fill: ", err)
	}
	refused(update(), hook.Failed, " was not updated: write ", syscall.ENOSPC)
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	refused(update(), hook.Failed, " was not updated: open ", syscall.EROFS)
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT, ""); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	if err := update(); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != strings.ReplaceAll(text, "1}", "2}") {
		t.Errorf("%v, the updated file has\n%s", err, got)
	}
}
