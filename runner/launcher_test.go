package runner

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/pyplug/pyplug/runner/hook"
)

// slowRenewal is a launcher whose Renew waits until it is let go.
type slowRenewal struct {
	hook.Launcher
	let      chan struct{}
	mu       sync.Mutex
	renewed  bool
	launched []bool // for each launch whether Renew was done
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

// TestLaunchAfterChange holds that no launch uses the import of older files while another launch renews it.
func TestLaunchAfterChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowRenewal{let: make(chan struct{})}
		modified := int64(1)
		l := &launcher{Launcher: slow, files: &files{
			fixed: func() map[string]fileKind { return map[string]fileKind{"plugin.py": ownFile} },
			list:  func() []string { return nil },
			stat:  func(string) fileStamp { return fileStamp{modified: modified} },
		}}
		_, _ = l.Launch(t.Context()) // nothing has changed: it renews nothing
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
