package bench

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// Target is the plugin that is measured. An error of a method ends the measurement.
type Target interface {
	// Begin is called with the name of each phase before its first round.
	Begin(ctx context.Context, phase string) error
	// Cold starts the plugin, calls the hook once, and stops it again.
	Cold(ctx context.Context) error
	// Call calls the hook of a running plugin, in the phase pipelined from several
	// goroutines at once.
	Call(ctx context.Context) error
	// Crash kills the plugin's process and returns when the next one accepts calls.
	Crash(ctx context.Context) error
}

// Options say how long is measured. [DefaultOptions] returns the usual ones.
type Options struct {
	// Rounds is the maximum number of rounds of a phase. Cold and crash, which start
	// processes, have a hundredth of it.
	Rounds int
	// Limit is the time after which a phase begins no further round. The first call of
	// a fresh worker does not count.
	Limit time.Duration
	// Jobs is how many calls the phase pipelined makes at once. It makes fewer if so
	// many take longer than a quarter of Limit.
	Jobs int
	// Skip leaves phases out, by name.
	Skip []string
}

// DefaultOptions returns at most 10000 rounds and 3 s for each phase, and 64 calls at once.
func DefaultOptions() Options { return Options{Rounds: 10_000, Limit: defaultLimit, Jobs: 64} }

// Concurrent is how many calls the phase pipelined makes at once, at most.
func (o Options) Concurrent() int { return min(o.Jobs, o.Rounds) }

// The names of the phases, in their order.
const (
	Cold      = "cold"
	Warm      = "warm"
	Pipelined = "pipelined"
	Crash     = "crash"
)

// Names lists the phases in their order.
func Names() []string { return []string{Cold, Warm, Pipelined, Crash} }

const (
	defaultLimit = 3 * time.Second
	// startCost divides the number of rounds of a phase that starts processes.
	startCost = 100
	// warmUp is how many calls of a fresh worker do not count. They take at most a
	// tenth of the phase's time.
	warmUp = 200
	// crowdShare means that calls made at once may together take a quarter of the
	// phase's time.
	crowdShare = 4
)

// Phase is what was measured in one phase.
type Phase struct {
	Name string
	// Jobs is how many rounds were made at once.
	Jobs int
	// Took is the wall time of all rounds together.
	Took time.Duration
	// Times holds how long each round took, the shortest first.
	Times []time.Duration
}

// Percentile is the time within which that share of the rounds ended, by nearest rank;
// 0 without rounds.
func (p Phase) Percentile(percent float64) time.Duration {
	n := len(p.Times)
	if n == 0 {
		return 0
	}
	rank := int(math.Ceil(percent / 100 * float64(n)))
	return p.Times[min(max(rank, 1), n)-1]
}

// PerSecond is the number of rounds in a second, to a tenth; 0 without rounds.
func (p Phase) PerSecond() float64 {
	if p.Took <= 0 {
		return 0
	}
	return math.Round(float64(len(p.Times))/p.Took.Seconds()*10) / 10
}

// Figures are the figures of a phase, and their public shape.
type Figures struct {
	Name   string `json:"name"`
	Rounds int    `json:"rounds"`
	// Jobs is how many calls were made at once.
	Jobs      int               `json:"jobs"`
	Min       hook.Milliseconds `json:"min_ms"`
	P50       hook.Milliseconds `json:"p50_ms"`
	P90       hook.Milliseconds `json:"p90_ms"`
	P99       hook.Milliseconds `json:"p99_ms"`
	Max       hook.Milliseconds `json:"max_ms"`
	PerSecond float64           `json:"per_second"`
}

// Figures returns the figures of the phase.
func (p Phase) Figures() Figures {
	time := func(percent float64) hook.Milliseconds { return hook.Milliseconds(p.Percentile(percent)) }
	return Figures{p.Name, len(p.Times), p.Jobs, time(0), time(50), time(90), time(99), time(100), p.PerSecond()}
}

// Measure runs the phases and returns their results. The error is the first of a round, or
// else the cause of ctx's end. It comes with the phases before it.
func Measure(ctx context.Context, t Target, o Options) (phases []Phase, err error) {
	for _, name := range Names() {
		if slices.Contains(o.Skip, name) {
			continue
		}
		if err := t.Begin(ctx, name); err != nil {
			return phases, err
		}
		p, err := o.phase(ctx, t, name)
		if err != nil {
			return phases, err
		}
		p.Name = name
		phases = append(phases, p)
	}
	return phases, nil
}

// phase measures one phase.
func (o Options) phase(ctx context.Context, t Target, name string) (Phase, error) {
	end, few := time.Now().Add(o.Limit), max(1, o.Rounds/startCost)
	switch name {
	case Cold:
		return repeat(ctx, few, 1, end, t.Cold)
	case Crash:
		return repeat(ctx, few, 1, end, t.Crash)
	}
	// The limit begins after the first call, which may load what the others need.
	first, err := repeat(ctx, 1, 1, end, t.Call)
	warm := time.Now()
	brief := min(o.Limit, defaultLimit) / 10
	if err == nil && first.Took < brief {
		_, err = repeat(ctx, min(warmUp, o.Rounds), 1, warm.Add(brief), t.Call)
	}
	jobs := 1
	if err == nil && name == Pipelined {
		jobs, err = o.crowd(ctx, t, warm.Add(o.Limit))
	}
	if err != nil {
		return Phase{}, err
	}
	return repeat(ctx, o.Rounds, jobs, warm.Add(o.Limit), t.Call)
}

// crowd returns how many calls are worth making at once. It tries 1, 2, 4 and so on, and stops when
// they only wait for each other, which takes a good part of the limit.
func (o Options) crowd(ctx context.Context, t Target, end time.Time) (int, error) {
	jobs, most := 1, o.Concurrent()
	for jobs < most {
		p, err := repeat(ctx, jobs, jobs, end, t.Call)
		if err != nil || 2*p.Took > o.Limit/crowdShare {
			return jobs, err
		}
		jobs = min(2*jobs, most)
	}
	return jobs, nil
}

// repeat makes rounds, jobs at a time, until there were enough or the end is reached. It
// waits for those in progress. Each of jobs makes at least one. The error is the first of
// a round, from which others follow, or the cause of ctx's end.
func repeat(ctx context.Context, rounds, jobs int, end time.Time, round func(context.Context) error) (Phase, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began := time.Now()
	var failed error
	var once sync.Once
	var left atomic.Int64
	left.Store(int64(rounds))
	times := make([][]time.Duration, min(jobs, rounds))
	var work sync.WaitGroup
	for i := range times {
		work.Go(func() { // ends with the rounds, the end or ctx
			for left.Add(-1) >= 0 {
				start := time.Now()
				if err := round(ctx); err != nil {
					once.Do(func() { failed = err })
					cancel()
				}
				if ctx.Err() != nil {
					return
				}
				times[i] = append(times[i], time.Since(start))
				if !time.Now().Before(end) {
					return
				}
			}
		})
	}
	work.Wait()
	p := Phase{Jobs: len(times), Took: time.Since(began), Times: slices.Concat(times...)}
	slices.Sort(p.Times)
	return p, cmp.Or(failed, context.Cause(ctx))
}
