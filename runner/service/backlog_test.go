package service

import (
	"testing"
	"testing/synctest"
)

// Reports run in order, and add never waits for a reader.
func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog()
		var got []int
		for n := range 3 {
			b.add(func() { got = append(got, n) })
		}
		b.flush()
		if len(got) != 3 || got[0] != 0 || got[2] != 2 {
			t.Errorf("got %v", got)
		}
		release := make(chan struct{})
		b.add(func() { <-release })
		synctest.Wait()
		for range maxBacklog + 5 {
			b.add(func() {})
		}
		b.flush()                               // until its timeout
		if dropped := b.close(); dropped != 6 { // and flush's
			t.Errorf("%d dropped, want 6", dropped)
		}
		close(release)
		<-b.done
	})
}
