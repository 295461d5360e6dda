package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// slowRenewal is a launcher whose Renew waits for a signal.
type slowRenewal struct {
	hook.Launcher
	let      chan struct{}
	mu       sync.Mutex
	renewed  bool
	launched []bool // whether Renew had returned, for each launch
}

func (l *slowRenewal) Renew() {
	<-l.let
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewed = true
}

func (l *slowRenewal) Launch(context.Context) (hook.Instance, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.launched = append(l.launched, l.renewed)
	return nil, errors.New("none starts")
}

// TestLaunchAfterChange checks that no launch uses an import of older files while another launch is
// in Renew.
func TestLaunchAfterChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowRenewal{let: make(chan struct{})}
		modified := int64(1)
		l := &launcher{Launcher: slow, files: &files{
			fixed: func() map[string]fileKind { return map[string]fileKind{"plugin.py": ownFile} },
			list:  func() []string { return nil },
			stat:  func(string) fileStamp { return fileStamp{modified: modified} },
		}}
		_, _ = l.Launch(t.Context()) // does not renew, because nothing has changed
		modified++
		for range 2 {
			go func() { _, _ = l.Launch(t.Context()) }()
			synctest.Wait()
		}
		close(slow.let)
		synctest.Wait()
		if got := slow.launched; len(got) != 3 || !got[1] || !got[2] {
			t.Errorf("renewed before each launch: %v, want it before the second and the third", got)
		}
	})
}

// TestMissingExecutable checks that a program that chooses its own Python gets no hints about
// Python.
func TestMissingExecutable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a first line makes no executable")
	}
	path := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(path, []byte("#!"+runnertest.Python(t)+"\nimport zz_a\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	o, err := Open(t.Context(), plan.Config{Plugin: path, Cwd: filepath.Dir(path), Environ: os.Environ()})
	if err != nil || o.Program().Missing != nil {
		t.Errorf("got hints, %v", err)
	}
}
