package pyworker

import (
	"context"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// maxPart is the maximum number of calls in a part of a series. The calls of a part are sent
	// together.
	maxPart = 256
	// partSize is the approximate maximum size of a part in bytes. A pipe has room for two
	// parts and a few more frames.
	partSize = hook.MaxSeriesArgs
	// slowAfter is the time after which a call is slow. pyplug then checks whether the calls behind
	// it are wanted elsewhere. If so, the worker hands them back. pyplug checks again after longer
	// and longer waits, up to longestAsked.
	slowAfter    = 10 * time.Millisecond
	longestAsked = time.Second
	// lookEvery is how often a series of quick calls checks whether another caller waits.
	lookEvery = 5 * time.Millisecond
)

// CallSeries makes calls that are sent ahead and run one after the other. It makes no call if the
// worker takes several calls at a time. See [hook.SeriesCaller].
//
// Each part of the series is sent while the worker runs the part before it. If a call is slow, and
// the calls behind it are wanted elsewhere, the worker hands those back that have not begun.
func (inst *instance) CallSeries(ctx context.Context, s *hook.Series) {
	c := newCall("")
	c.stream, c.emit, c.limit, c.series = true, s.Emit, s.Limit, s
	if c.frame, c.ahead = seriesFrames(s, 0, frameCall); c.ahead == 0 || inst.launcher.cfg.Concurrency > 1 || inst.launcher.cfg.Threads {
		return
	}
	select {
	case <-inst.slots:
	default:
		return // the worker runs a probe, or an abandoned call
	}
	inst.prepareSeries()
	number, err := inst.begin(c)
	if err != nil {
		return
	}
	looked := time.Now()
	for part := c.ahead; c.ahead > 0; c.ahead-- {
		if part > 0 && c.ahead <= part { // only the last part is left
			part = inst.sendPart(c)
			c.ahead += part
		}
		c.hook, c.began = s.Calls[0].Hook, time.Now()
		if c.began.Sub(looked) > lookEvery {
			looked = c.began
			inst.askBack(c, false)
		}
		f, failed := inst.await(ctx, c, number)
		switch {
		case failed == nil:
			s.Answer(c.result(f), nil)
		case failed.Kind == hook.Unavailable, failed.Kind == hook.Canceled && !failed.Begun:
			return // this call and those behind it have not begun
		default:
			s.Answer(hook.Result{}, failed)
		}
		number++
	}
}

// prepareSeries announces the first series to the worker, which then handles SIGURG.
func (inst *instance) prepareSeries() {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	if !inst.serial {
		inst.serial = true
		inst.enqueue(outgoing{frame: newFrame(frameBack, 0)})
	}
}

// sendPart sends the next part of a series, while the part before it is not yet answered. It
// returns the number of calls that it has sent.
func (inst *instance) sendPart(c *call) int {
	if len(c.series.Calls) == c.ahead {
		c.series.Extend(maxPart)
	}
	frames, n := seriesFrames(c.series, c.ahead, aheadKind(c.series))
	if n == 0 || !inst.extend(c, frames) {
		return 0
	}
	return n
}

// aheadKind returns the type of the frames of a series after the first one.
func aheadKind(s *hook.Series) byte {
	if s.FailFast {
		return frameUnless
	}
	return frameAhead
}

// seriesFrames returns the frames of calls from index at on, and the number of these calls. kind is
// the type of the first frame. It stops at the limits of a part, and before a call that cannot be
// sent.
func seriesFrames(s *hook.Series, at int, kind byte) (frames []byte, n int) {
	calls := s.Calls[at:]
	for ; n < min(len(calls), maxPart) && len(calls[n].Args.JSON) <= partSize; kind = aheadKind(s) {
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

// askBack recalls the calls of a series behind the running one if they are wanted elsewhere.
func (inst *instance) askBack(c *call, slow bool) {
	if c.series.Wanted != nil && c.series.Wanted(slow) {
		inst.recall(c)
	}
}

// recall asks the worker to hand back the calls of a series behind the running one.
func (inst *instance) recall(c *call) {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	if !c.isOver() && c.number < c.last {
		inst.enqueue(outgoing{frame: newFrame(frameBack, c.last), urge: true})
	}
}

// handBack hands back the calls of a series that the worker has rejected. number is the number of
// the first unanswered call. If that call was rejected, too, it stays, and await returns its error.
func (inst *instance) handBack(c *call, number uint32) {
	inst.mu.Lock()
	left := max(1, int(c.last+1-number))
	inst.mu.Unlock()
	if left < c.ahead {
		c.ahead = left
		c.series.HandBack(len(c.series.Calls) - left)
	}
}
