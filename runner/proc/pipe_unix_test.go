//go:build linux || darwin

package proc

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

// answering starts a shell that writes each line that it reads, first to standard error and then as
// its answer.
func answering(t *testing.T, onLine func(Line)) *Process {
	t.Helper()
	s := talking(`while read -r line; do echo "$line" >&2; echo "$line"; done`)
	s.OnLine = onLine
	return start(t, s)
}

func ask(t *testing.T, p *Process) {
	t.Helper()
	if _, err := io.WriteString(p.Conn(), "hello\n"); err != nil {
		t.Fatal(err)
	}
}

// TestSettle checks that Settle waits while output is being delivered.
func TestSettle(t *testing.T) {
	clean(t)
	lines, release := make(chan Line), make(chan struct{})
	p := answering(t, func(l Line) {
		lines <- l
		<-release
	})
	ask(t, p)
	<-lines
	p.Settle(time.Millisecond)
	if settled(p.drained) {
		t.Error("settled while what was printed is being delivered")
	}
	release <- struct{}{}
	p.Settle(time.Minute)
	if !settled(p.drained) {
		t.Error("not settled afterwards")
	}
}

// TestSettleInOrder checks many times that output printed before an answer has been delivered when
// Settle returns.
func TestSettleInOrder(t *testing.T) {
	clean(t)
	l := newLines()
	p, b := answering(t, l.add), make([]byte, 100)
	for asked := 1; asked <= 500; asked++ {
		ask(t, p)
		if n, err := p.Conn().Read(b); err != nil || string(b[:n]) != "hello\n" {
			t.Fatalf("answer %d: %q, %v", asked, b[:n], err)
		}
		began := time.Now()
		if p.Settle(patience); time.Since(began) > patience/2 {
			t.Fatal("it waited for what had been delivered")
		}
		if got := len(l.list()); got != asked {
			t.Fatalf("%d lines were delivered before answer %d", got, asked)
		}
	}
}

// TestCloseEndsRead checks that closing the connection ends a read that waits.
func TestCloseEndsRead(t *testing.T) {
	clean(t)
	p, ended := answering(t, nil), make(chan error)
	go func() {
		_, err := p.Conn().Read(make([]byte, 1))
		ended <- err
	}()
	p.Conn().Close()
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
