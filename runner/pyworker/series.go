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
	// parts and a few frames behind them.
	partSize = hook.MaxSeriesArgs
	// slowAfter is the time after which a call is slow: then those behind it are handed back
	// if they are wanted elsewhere. Until they are, pyplug asks again, after longer and longer times.
	slowAfter    = 10 * time.Millisecond
	longestAsked = time.Second
	// lookEvery is how often a series of quick calls looks whether another caller waits.
	lookEvery = 5 * time.Millisecond
)

// CallSeries makes calls that are sent ahead and run one after the other. It makes none if the
// worker takes several calls at a time. See [hook.SeriesCaller].
//
// Each part of the series is sent while the worker runs the part before it. The worker hands calls
// back that have not begun if a slow call is in front of them and they are wanted elsewhere.
func (inst *instance) CallSeries(ctx context.Context, s *hook.Series) {
	c := newCall("")
	c.stream, c.emit, c.limit, c.series = true, s.Emit, s.Limit, s
	if c.frame, c.ahead = seriesFrames(s, 0, frameCall); c.ahead == 0 || inst.launcher.cfg.Concurrency > 1 || inst.launcher.cfg.Threads {
		return
	}
	select {
	case <-inst.slots:
	default:
		return // the worker answers a probe, or an abandoned call
	}
	inst.prepareSeries()
	number, err := inst.begin(c)
	if err != nil {
		return
	}
	looked := time.Now()
	for part := c.ahead; c.ahead > 0; c.ahead-- {
		if part > 0 && c.ahead <= part { // all before the last part are answered
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
			return // it has not begun, nor have those behind it
		default:
			s.Answer(hook.Result{}, failed)
		}
		number++
	}
}

// prepareSeries tells the worker before its first series that calls will wait: it then handles SIGURG.
func (inst *instance) prepareSeries() {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	if !inst.serial {
		inst.serial = true
		inst.enqueue(outgoing{frame: newFrame(frameBack, 0)})
	}
}

// sendPart sends calls of a series, behind the first ones, which were sent and are not
// answered yet. It returns how many calls it has sent.
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

// aheadKind returns the type of the frames of a series, but for the first one.
func aheadKind(s *hook.Series) byte {
	if s.FailFast {
		return frameUnless
	}
	return frameAhead
}

// seriesFrames returns the frames of n calls from the index at, the first one of a type. The others are left
// out because they are too many or too large, or cannot be sent.
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

// askBack asks the worker to hand back the calls of a series behind the one that runs, if they are wanted.
func (inst *instance) askBack(c *call, slow bool) {
	if c.series.Wanted != nil && c.series.Wanted(slow) {
		inst.recall(c)
	}
}

// recall asks the worker to hand back the calls of a series behind the one that runs.
func (inst *instance) recall(c *call) {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	if !c.isOver() && c.number < c.last {
		inst.enqueue(outgoing{frame: newFrame(frameBack, c.last), urge: true})
	}
}

// handBack hands back the calls of a series that the worker has rejected. number is that of the first one
// that is not answered; if it was rejected, too, it stays, and await returns its error.
func (inst *instance) handBack(c *call, number uint32) {
	inst.mu.Lock()
	left := max(1, int(c.last+1-number))
	inst.mu.Unlock()
	if left < c.ahead {
		c.ahead = left
		c.series.HandBack(len(c.series.Calls) - left)
	}
}
