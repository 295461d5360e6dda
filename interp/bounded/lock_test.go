package bounded_test

import (
	"errors"
	"os"
	"testing"

	"github.com/pyplug/pyplug/interp/bounded"
)

// TestLock checks that only one open file can hold the lock, and that closing it releases the lock.
func TestLock(t *testing.T) {
	path := write(t, "text")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	one, two := open(), open()
	defer two.Close()
	if err := bounded.Lock(one); err != nil {
		t.Fatal(err)
	}
	if err := bounded.Lock(two); !errors.Is(err, bounded.ErrLocked) || !bounded.Locked(two) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "text" {
		t.Errorf("read %q, %v", text, err)
	}
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	if bounded.Locked(two) {
		t.Error("it is still locked")
	}
	if err := bounded.Lock(two); err != nil {
		t.Error(err)
	}
	if info, err := two.Stat(); err != nil || !bounded.IsOurs(info) {
		t.Errorf("a file that this test made is not its own: %v", err)
	}
	if err := two.Close(); err != nil {
		t.Error(err)
	}
	if err := bounded.Lock(two); err == nil || errors.Is(err, bounded.ErrLocked) {
		t.Errorf("a closed file: got %v", err)
	}
}
