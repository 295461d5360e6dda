package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// newLog returns a log of the name "p" that is rotated at max bytes.
func newLog(t *testing.T, max int64) *Log {
	t.Helper()
	dir := runDir(t)
	if err := makeDir(dir); err != nil {
		t.Fatal(err)
	}
	l, err := openLog(filepath.Join(dir, "p.log"), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.max = max
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func read(t *testing.T, last int) []Line {
	t.Helper()
	var lines []Line
	if err := ReadLog(context.Background(), "p", Want{Last: last}, func(l Line) error { lines = append(lines, l); return nil }); err != nil {
		t.Fatal(err)
	}
	return lines
}

func texts(lines []Line) []string {
	var all []string
	for _, l := range lines {
		all = append(all, l.Text)
	}
	return all
}

func TestLog(t *testing.T) {
	runnertest.NothingLeft(t)
	l := newLog(t, logLimit)
	at := time.Date(2026, 2, 3, 4, 5, 6, 789000, time.UTC)
	l.Add(Line{Time: at, Generation: 3, Stream: "stderr", Text: "a b  c"})
	l.Add(Line{Time: at, Generation: 3, Stream: "stdout", Text: ""})
	l.Add(Line{Time: at, Stream: Own, Text: "two\nlines\n"})
	if _, err := l.file.WriteString("panic: oh\n"); err != nil { // the Go runtime writes such lines
		t.Fatal(err)
	}
	want := []Line{
		{at, 3, "stderr", "a b  c"}, {at, 3, "stdout", ""}, {at, 0, Own, "two"}, {at, 0, Own, "lines"}, {Text: "panic: oh"},
	}
	if got := read(t, -1); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := read(t, 2); !reflect.DeepEqual(got, want[3:]) {
		t.Errorf("the last two are %+v", got)
	}
	if got := read(t, 0); got != nil {
		t.Errorf("the last none are %+v", got)
	}
	full := errors.New("full")
	if err := ReadLog(context.Background(), "p", Want{Last: -1, Follow: true}, func(Line) error { return full }); !errors.Is(err, full) {
		t.Errorf("got %v, want what emit said", err)
	}
	if err := ReadLog(context.Background(), "q", Want{Last: -1, Follow: true}, nil); kindOf(t, err) != hook.Unavailable {
		t.Errorf("no log: %v", err)
	}
}

// TestLogTurns checks that no log exceeds the limit, and that a follower reads every line.
func TestLogTurns(t *testing.T) {
	runnertest.NothingLeft(t)
	const limit, n = 64 << 10, 1000
	l := newLog(t, limit)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	more := make(chan struct{}, n) // keeps the writer within one rotation of the reader
	got := make(chan string, n)
	done := make(chan error, 1)
	l.Add(Line{Stream: "stderr", Text: "0"})
	go func() {
		done <- ReadLog(ctx, "p", Want{Last: -1, Follow: true}, func(line Line) error {
			got <- strings.TrimRight(line.Text, ".")
			more <- struct{}{}
			return nil
		})
	}()
	dots := strings.Repeat(".", 200)
	for i := 1; i < n; i++ {
		l.Add(Line{Stream: "stderr", Text: fmt.Sprint(i, dots)})
		if i%200 == 0 {
			for range 200 {
				<-more
			}
		}
	}
	for i := range n {
		if line := <-got; strings.TrimSpace(line) != fmt.Sprint(i) {
			t.Fatalf("got %q, want %d", line, i)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for _, name := range []string{l.path, l.path + older[0], l.path + older[1]} {
		if info, err := os.Stat(name); err != nil || info.Size() > limit {
			t.Errorf("%s: %v, %v", name, info.Size(), err)
		}
	}
	if lines := texts(read(t, 300)); len(lines) != 300 || !strings.HasPrefix(lines[0], fmt.Sprint(n-300)) {
		t.Errorf("the last 300 begin with %q", lines[0])
	}
}

// TestFollowTurns checks that a reader gets no line twice during a rotation of the log.
func TestFollowTurns(t *testing.T) {
	runnertest.NothingLeft(t)
	l := newLog(t, logLimit)
	put := func(text string) { l.Add(Line{Stream: Own, Text: text}) }
	turn := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.turn()
	}
	put("one")
	r, err := findLog("p")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { r.close() }()
	var got []string
	next := func() {
		t.Helper()
		if err := r.catchUp(func(l Line) error { got = append(got, l.Text); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	turn()
	put("two")
	next()
	next()
	put("three")
	turn()
	next()
	put("four")
	next()
	turn()
	put("five")
	next()
	if want := []string{"one", "two", "three", "four", "five"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFollowRestart checks that a follower continues with the log of the next daemon.
func TestFollowRestart(t *testing.T) {
	nothingLeft(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	d := start(t, newFake(), Options{})
	d.Log().Add(Line{Stream: "stdout", Text: "first"})
	got := make(chan string, 10)
	done := make(chan error, 1)
	go func() {
		done <- ReadLog(ctx, "p", Want{Last: -1, Follow: true}, func(l Line) error { got <- l.Text; return nil })
	}()
	if line := <-got; line != "first" {
		t.Errorf("got %q", line)
	}
	d.Log().Add(Line{Stream: "stdout", Text: "last"})
	d.stop()
	d = start(t, newFake(), Options{})
	if _, err := d.Log().Write([]byte("second\n")); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"last", "stopping: context canceled", "ended: context canceled", "second"} {
		if line := <-got; line != want {
			t.Errorf("got %q, want %q", line, want)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
