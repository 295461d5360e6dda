package commands

import (
	"testing"
	"testing/synctest"
)

// What is told is told in order, and who tells it never waits for who does not read.
func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog()
		var told []int
		for n := range 3 {
			b.add(func() { told = append(told, n) })
		}
		b.flush()
		if len(told) != 3 || told[0] != 0 || told[2] != 2 {
			t.Errorf("told %v", told)
		}
		release := make(chan struct{})
		b.add(func() { <-release })
		synctest.Wait()
		for range backlogSize + 5 {
			b.add(func() {})
		}
		b.flush() // for a while
		if lost := b.close(); lost != 5 {
			t.Errorf("%d are lost, want 5", lost)
		}
		close(release)
		<-b.done
	})
}
