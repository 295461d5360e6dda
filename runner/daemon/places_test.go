//go:build unix

package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// shells returns functions that switch between two shells of one user: with sets XDG_RUNTIME_DIR,
// and without clears it.
func shells(t *testing.T) (with, without func()) {
	t.Helper()
	before, base := sharedTemp, filepath.Dir(nothingLeft(t))
	sharedTemp = base
	t.Cleanup(func() { sharedTemp = before })
	xdg := filepath.Join(base, "xdg")
	if err := os.Mkdir(xdg, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYPLUG_RUN_DIR", "")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	return func() { t.Setenv("XDG_RUNTIME_DIR", xdg) }, func() { t.Setenv("XDG_RUNTIME_DIR", "") }
}

// TestOneName checks that shells with and without XDG_RUNTIME_DIR share the names. A plugin that is
// started in one is found, called and stopped in the other, and started only once.
func TestOneName(t *testing.T) {
	for name, swap := range map[string]bool{"started with": false, "started without": true} {
		t.Run(name, func(t *testing.T) {
			one, other := shells(t)
			if swap {
				one, other = other, one
			}
			one()
			d := start(t, newFake(), Options{})
			other()
			if s, err := Listen(Identity{Name: "p", Entry: "/x/p.py"}, Options{}); !Is(err, AlreadyRuns) {
				t.Errorf("a second start: %v", err)
				if err == nil {
					s.Fail(errors.New("enough"))
				}
			}
			if r, err := open(t).Call(ctx0, hook.Call{Hook: "echo", Args: hook.Args{JSON: []byte(`[1]`)}}); err != nil {
				t.Errorf("call: %v, %v", r, err)
			}
			if l, err := findLog("p"); err != nil {
				t.Errorf("log: %v", err)
			} else {
				l.close()
			}
			for _, shell := range []func(){one, other} {
				shell()
				if live, err := List(ctx0); err != nil || len(live) != 1 || !live[0].same(d.Identity()) {
					t.Errorf("listed are %v, %v", live, err)
				}
			}
			other()
			if ran, err := Stop(ctx0, "p", StopOptions{}); !ran || err != nil {
				t.Errorf("stop: %v, %v", ran, err)
			}
			<-d.over
			one()
			for _, dir := range RunDirs() {
				if _, err := os.Stat(dir); err == nil && len(files(t, dir)) > 0 {
					t.Errorf("left in %s: %v", dir, files(t, dir))
				}
			}
		})
	}
}

// TestOneOfTwo acquires a name with and without XDG_RUNTIME_DIR at once. Only one succeeds.
func TestOneOfTwo(t *testing.T) {
	with, without := shells(t)
	var all [2][]place
	for i, shell := range []func(){with, without} {
		shell()
		var err error
		if all[i], err = makePlaces("p"); err != nil || len(all[i]) != 2-i {
			t.Fatal(all[i], err)
		}
	}
	for range 100 {
		var work sync.WaitGroup
		var got atomic.Int32
		gate := make(chan struct{})
		for i := range 4 {
			work.Go(func() {
				<-gate
				h, err := awaitLocks(all[i%2], Identity{Name: "p"})
				if err != nil {
					t.Error(err)
					return
				}
				if got.Add(1) > 1 {
					t.Error("two have the name")
				}
				got.Add(-1)
				h.release()
			})
		}
		close(gate)
		work.Wait()
	}
}
