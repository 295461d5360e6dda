//go:build linux || darwin

package proc

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

// answering starts a shell that writes what it reads, once to standard error and
// once as its answer.
func answering(t *testing.T, onLine func(Line)) *Process {
	t.Helper()
	s := shell(`while read -r line; do echo "$line" >&2; echo "$line"; done`)
	s.Talk, s.OnLine = true, onLine
	return start(t, s)
}

func ask(t *testing.T, p *Process) {
	t.Helper()
	if _, err := io.WriteString(p.Conn(), "hello\n"); err != nil {
		t.Fatal(err)
	}
}

func TestReadNow(t *testing.T) {
	clean(t)
	p, b := answering(t, nil), make([]byte, 100)
	for range 3 {
		if n, err := p.Conn().ReadNow(b); !errors.Is(err, ErrNotYet) || n != 0 {
			t.Fatalf("%d bytes, %v before anything was asked", n, err)
		}
		ask(t, p)
		if err := p.Conn().Wait(); err != nil {
			t.Fatal(err)
		}
		if n, err := p.Conn().ReadNow(b); err != nil || string(b[:n]) != "hello\n" {
			t.Errorf("read %q, %v", b[:n], err)
		}
	}
	p.Conn().CloseWrite()
	<-p.Done()
	if err := p.Conn().Wait(); err != nil {
		t.Errorf("wait for the end: %v", err)
	}
	if _, err := p.Conn().ReadNow(b); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

// Whoever waits is told when it is woken, and when the connection is closed.
func TestWaitEnds(t *testing.T) {
	clean(t)
	p, told := answering(t, nil), make(chan error)
	go func() {
		err := p.Conn().Wait()
		told <- err
		for err == nil {
			err = p.Conn().Wait()
		}
		told <- err
	}()
	p.Conn().Wake()
	if err := <-told; err != nil {
		t.Errorf("woken: %v", err)
	}
	p.Conn().Close()
	if err := <-told; !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if _, err := p.Conn().ReadNow(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
	if ready, _ := p.Await(time.Millisecond); ready {
		t.Error("a closed connection has something to read")
	}
}

func TestAwait(t *testing.T) {
	clean(t)
	lines, release := make(chan Line), make(chan struct{})
	p := answering(t, func(l Line) {
		lines <- l
		<-release
	})
	if ready, _ := p.Await(time.Millisecond); ready {
		t.Error("ready before anything was asked")
	}
	ask(t, p)
	<-lines
	ready, settled := p.Await(time.Minute)
	if !ready || settled {
		t.Errorf("ready %v, settled %v while what was printed is being handed on", ready, settled)
	}
	release <- struct{}{}
	p.Settle(time.Minute)
	if ready, settled = p.Await(time.Minute); !ready || !settled {
		t.Errorf("ready %v, settled %v afterwards", ready, settled)
	}
}

// What was printed before an answer has been handed on when Settle returns, at each
// of many moments.
func TestSettleInOrder(t *testing.T) {
	clean(t)
	l := newLines()
	p, b := answering(t, l.add), make([]byte, 100)
	for asked := 1; asked <= 500; asked++ {
		ask(t, p)
		n, err := p.Conn().ReadNow(b)
		for errors.Is(err, ErrNotYet) {
			if err = p.Conn().Wait(); err == nil {
				n, err = p.Conn().ReadNow(b)
			}
		}
		if err != nil || string(b[:n]) != "hello\n" {
			t.Fatalf("answer %d: %q, %v", asked, b[:n], err)
		}
		if asked%2 == 0 {
			began := time.Now()
			if p.Settle(patience); time.Since(began) > patience/2 {
				t.Fatal("it waited for what had been handed on")
			}
		} else {
			eventually(t, "settled", p.Settled)
		}
		if got := len(l.list()); got != asked {
			t.Fatalf("%d lines were handed on before answer %d", got, asked)
		}
	}
}
