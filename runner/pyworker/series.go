package pyworker

import (
	"context"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// maxPart is how many calls of a series are sent at once, as a part of it.
	maxPart = 256
	// partSize is the size of a part in bytes, more or less. A pipe has room for two
	// parts and a cancel behind them.
	partSize = 16 << 10
)

// CallSeries makes calls that the worker receives together and runs one after the other.
// It makes none if the worker takes several calls at a time. See [hook.SeriesCaller].
//
// Each part of the series is sent while the worker runs the part before it. The worker begins
// the calls of a part for some milliseconds and refuses the rest, so that no call waits behind
// one that takes long.
func (inst *instance) CallSeries(ctx context.Context, s *hook.Series) {
	c := newCall("")
	c.stream, c.emit, c.limit = true, s.Emit, s.Limit
	var n int
	if c.frame, n = seriesFrames(s.Calls, frameCall); n == 0 || inst.launcher.cfg.Concurrency > 1 || inst.launcher.cfg.Threads {
		return
	}
	select {
	case <-inst.slots:
	default:
		return // the worker answers a probe, or an abandoned call
	}
	number, err := inst.begin(c)
	if err != nil {
		return
	}
	for part := n; n > 0; n-- {
		if part > 0 && n <= part { // all before the last part are answered
			part = inst.sendPart(c, s, n)
			n += part
		}
		c.hook, c.began = s.Calls[0].Hook, time.Now()
		f, failed := inst.await(ctx, c, number)
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

// sendPart sends calls of a series, behind the first ones, which were sent and are not
// answered yet. It returns how many calls it has sent.
func (inst *instance) sendPart(c *call, s *hook.Series, sent int) int {
	if len(s.Calls) == sent {
		s.Extend(maxPart)
	}
	frames, n := seriesFrames(s.Calls[sent:], frameMore)
	if n == 0 || !inst.extend(c, frames) {
		return 0
	}
	return n
}

// seriesFrames returns the frames of the first n calls. The others are left out because they
// are too many or too large, or cannot be sent.
func seriesFrames(calls []hook.Call, kind byte) (frames []byte, n int) {
	for ; n < min(len(calls), maxPart) && len(calls[n].Args.JSON) <= partSize; kind = frameAfter {
		at := len(frames)
		b, err := appendArgs(append(frames, make([]byte, headerSize)...), calls[n])
		if err != nil || len(b) > partSize {
			break
		}
		seal(b[at:], kind, 0)
		frames = b
		n++
	}
	return frames, n
}
