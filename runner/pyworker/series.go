package pyworker

import (
	"context"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// maxSeries is how many calls of a series are sent at once.
	maxSeries = 256
	// seriesSize is about how many bytes of a series are sent at once.
	seriesSize = 32 << 10
)

// CallSeries makes calls that the worker receives together and runs one after the
// other: none if the worker takes several calls at a time. See [hook.SeriesCaller].
//
// The worker begins them for some milliseconds and refuses the rest, so that no call
// waits behind one that takes long.
func (w *instance) CallSeries(ctx context.Context, s *hook.Series) {
	c, n := newSeries(s.Calls)
	if n == 0 || w.cfg.Concurrency > 1 || w.cfg.Threads {
		return
	}
	select {
	case <-w.slots:
	default:
		return // the worker answers a probe, or an abandoned call
	}
	number, err := w.begin(c)
	if err != nil {
		return
	}
	if c.limit = s.Limit; c.limit > 0 {
		c.timer = time.NewTimer(c.limit)
		defer c.timer.Stop()
	}
	for _, hc := range s.Calls[:n] {
		c.hook, c.began, c.emit = hc.Hook, time.Now(), hc.Emit
		f, failed := w.await(ctx, c, number)
		switch {
		case failed == nil:
			s.Answer(c.result(f), nil)
		case failed.Kind == hook.Unavailable, failed.Kind == hook.Canceled && !failed.Begun:
			return // it has not begun, nor have those behind it
		default:
			s.Answer(hook.Result{}, failed)
		}
		number++
	}
}

// newSeries makes one of the first n calls. The others are left out because they are too
// many or too large, or cannot be sent.
func newSeries(calls []hook.Call) (c *call, n int) {
	c = newCall("")
	c.stream, c.frame = true, c.frame[:0]
	for kind := byte(frameCall); n < min(len(calls), maxSeries) && len(calls[n].Args.JSON) <= seriesSize; kind = frameAfter {
		at := len(c.frame)
		b, err := appendArgs(append(c.frame, make([]byte, headerSize)...), calls[n])
		if err != nil || len(b) > seriesSize {
			break
		}
		seal(b[at:], kind, 0)
		c.frame = b
		n++
	}
	return c, n
}
