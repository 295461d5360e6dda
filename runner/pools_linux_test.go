package runner_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// counts its imports, and its calls.
const counting = `
import os
with open(os.path.join(os.path.dirname(__file__), "imports"), "a") as file:
    file.write(".")
calls = 0

def count():
    global calls
    calls += 1
    return calls

def imports():
    return os.path.getsize(os.path.join(os.path.dirname(__file__), "imports"))
`

// TestSeveralPools holds that the pools of one opened plugin share its import, at once and,
// while it is held, one after the other; that a fresh worker needs no import either; and
// that nothing is left when the last one ends.
func TestSeveralPools(t *testing.T) {
	runnertest.NothingLeft(t)
	o, err := runner.Open(t.Context(), file(t, counting))
	if err != nil {
		t.Fatal(err)
	}
	start := func() *runner.Pool {
		t.Helper()
		p, err := o.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	end := func(p *runner.Pool) {
		t.Helper()
		for range 2 { // the second does nothing
			if err := p.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
	}
	wants := func(p *runner.Pool, counted, imports int) {
		t.Helper()
		answers(t, p, call("count", "[]"), strconv.Itoa(counted))
		answers(t, p, call("imports", "[]"), strconv.Itoa(imports))
	}
	one, two := start(), start()
	wants(one, 1, 1)
	wants(two, 1, 1)
	end(one)
	wants(two, 2, 1)
	if err := two.Replace(t.Context(), "a test"); err != nil {
		t.Fatal(err)
	}
	wants(two, 1, 1)
	release := o.Hold()
	end(two)
	three := start()
	wants(three, 1, 1)
	if err := release(context.Background()); err != nil {
		t.Error(err)
	}
	end(three)
	four := start()
	wants(four, 1, 2)
	if err := four.Restart(t.Context(), "a test"); err != nil {
		t.Fatal(err)
	}
	wants(four, 1, 3)
	end(four)
}
