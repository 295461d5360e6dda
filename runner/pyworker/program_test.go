package pyworker

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestBoot checks that one read returns the whole first frame.
func TestBoot(t *testing.T) {
	if size := len(newFrame(frameLoad, 0, boot...)); size > 4096 {
		t.Errorf("the first frame has %d bytes, want at most 4096", size)
	}
}

// TestCache checks that byte code is stored only where no other user can write.
func TestCache(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, home)
	}
	path, err := cache()
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if path, err := cache(); err == nil {
			t.Errorf("got %q, where all may write", path)
		}
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Dir(path), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if path, err := cache(); err == nil {
		t.Errorf("got %q, where there is no directory", path)
	}
}
