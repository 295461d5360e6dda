package bounded_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/pyplug/pyplug/interp/bounded"
)

// TestUserCache checks that a home that does not exist has no cache, and that a cache outside the
// home need not exist.
func TestUserCache(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the variables are those of Linux")
	}
	home := t.TempDir()
	none := filepath.Join(home, "none")
	for _, c := range []struct{ home, cache, want string }{
		{home, "", filepath.Join(home, ".cache", "pyplug")},
		{none, "", ""},
		{none, filepath.Join(none, "cache"), ""},
		{none, filepath.Join(home, "cache"), filepath.Join(home, "cache", "pyplug")},
		{none, filepath.Join(home, "none2"), filepath.Join(home, "none2", "pyplug")},
		{"", filepath.Join(home, "cache"), filepath.Join(home, "cache", "pyplug")},
		{"", "", ""},
		{home, "relative", ""},
		{"relative", "", ""},
	} {
		t.Setenv("HOME", c.home)
		t.Setenv("XDG_CACHE_HOME", c.cache)
		if got, err := bounded.UserCache(); got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v: got %q, %v", c, got, err)
		}
	}
	if _, err := os.Lstat(none); err == nil {
		t.Error("it was made")
	}
}
