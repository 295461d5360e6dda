package proc

import (
	"errors"
	"os"
	"testing"
	"time"
)

// TestPause checks that data that arrives during a pause is read after it, even by a read that must
// wait, and that a pause ends when the connection is closed.
func TestPause(t *testing.T) {
	clean(t)
	p, b := answering(t, nil), make([]byte, 100)
	for range 200 {
		ask(t, p)
		p.Conn().Pause(50 * time.Microsecond)
		if n, err := p.Conn().Read(b); err != nil || string(b[:n]) != "hello\n" {
			t.Fatalf("read %q, %v", b[:n], err)
		}
	}
	p.Conn().Close()
	p.Conn().Pause(time.Microsecond)
	if _, err := p.Conn().Read(b); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
