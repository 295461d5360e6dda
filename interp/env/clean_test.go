package env

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Clean removes what has no record, leaves work that another process does, and works in an empty
// cache.
func TestClean(t *testing.T) {
	cache := t.TempDir()
	no := func(string) bool { return false }
	if removed, _, err := Clean(cache, no, false); len(removed) > 0 || err != nil {
		t.Errorf("an empty cache: %v, %v", removed, err)
	}
	orphan, used, made := filepath.Join(environments(cache), "orphan"), filepath.Join(environments(cache), "used"), filepath.Join(environments(cache), "made")
	for _, dir := range []string{orphan, used, made, made + workSuffix, filepath.Join(environments(cache), "plugins")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(orphan, "file"), make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	unlock, err := lockNow(made + workSuffix + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	inUse := func(dir string) bool { return dir == used }
	for _, dryRun := range []bool{true, false} {
		removed, bytes, err := Clean(cache, inUse, dryRun)
		want := []string{orphan}
		if dryRun {
			want = []string{made, orphan}
		}
		if !slices.Equal(removed, want) || bytes != 1000 || err != nil {
			t.Errorf("dry run %v: removed %v, %d bytes, %v", dryRun, removed, bytes, err)
		}
	}
	for dir, there := range map[string]bool{orphan: false, orphan + workSuffix: false, used: true, made: true, made + workSuffix: true} {
		if _, err := os.Stat(dir); err == nil != there {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
