package bench

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// Target is the plugin that is measured. Its methods return an error when the
// round failed, which ends the measurement.
type Target interface {
	// Cold starts the plugin, calls the hook once, and stops it again.
	Cold(ctx context.Context) error
	// Call calls the hook of a plugin that runs. It is called from several
	// goroutines at once in the phase pipelined.
	Call(ctx context.Context) error
	// Crash ends the plugin's process as something outside would, and returns
	// when the next one takes calls.
	Crash(ctx context.Context) error
}

// Options say how long is measured. The zero value of a field is its default.
type Options struct {
	// Rounds is the most rounds of a phase; of cold and crash, which start
	// processes, a hundredth. 0: 10000.
	Rounds int
	// Limit is the longest that a phase may take; 0: 3 s.
	Limit time.Duration
	// Jobs is how many calls are made at once in the phase pipelined; 0: 64.
	Jobs int
	// Skip leaves phases out, by name.
	Skip []string
}

// Concurrent is how many calls are made at once in the phase pipelined.
func (o Options) Concurrent() int {
	if o.Jobs <= 0 {
		return defaultJobs
	}
	return o.Jobs
}

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
	defaultRounds = 10_000
	defaultLimit  = 3 * time.Second
	defaultJobs   = 64
	// costly is how many times fewer rounds a phase has that starts processes.
	costly = 100
	// warmUp is how many rounds of the warm phases do not count, at most: a
	// tenth of the phase's time ends them, too.
	warmUp = 200
)

// Phase is what was measured of one way of using a plugin.
type Phase struct {
	Name string
	// Took is the time of all rounds together, as a clock on the wall has it.
	Took time.Duration
	// Times holds how long each round took, the shortest first.
	Times []time.Duration
}

// Percentile is the time within which p of a hundred rounds ended: that of the
// nearest rank. 0 without rounds.
func (p Phase) Percentile(percent float64) time.Duration {
	n := len(p.Times)
	if n == 0 {
		return 0
	}
	rank := int(math.Ceil(percent / 100 * float64(n)))
	return p.Times[min(max(rank, 1), n)-1]
}

// PerSecond is how many rounds came in a second; 0 without rounds.
func (p Phase) PerSecond() float64 {
	if p.Took <= 0 {
		return 0
	}
	return float64(len(p.Times)) / p.Took.Seconds()
}

// Measure goes through the phases, and tells each when it is over; began is told
// the name of each that begins. The error is the first of a round, or that of
// ctx; the phases before it were told.
func Measure(ctx context.Context, t Target, o Options, began func(name string), over func(Phase)) error {
	if o.Rounds <= 0 {
		o.Rounds = defaultRounds
	}
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	few := max(1, o.Rounds/costly)
	for _, ph := range []struct {
		name         string
		rounds, jobs int
		warm         bool
		round        func(context.Context) error
	}{
		{Cold, few, 1, false, t.Cold},
		{Warm, o.Rounds, 1, true, t.Call},
		{Pipelined, o.Rounds, o.Concurrent(), true, t.Call},
		{Crash, few, 1, false, t.Crash},
	} {
		if slices.Contains(o.Skip, ph.name) {
			continue
		}
		began(ph.name)
		if ph.warm {
			if _, err := repeat(ctx, min(warmUp, o.Rounds), ph.jobs, o.Limit/10, ph.round); err != nil {
				return err
			}
		}
		result, err := repeat(ctx, ph.rounds, ph.jobs, o.Limit, ph.round)
		if err != nil {
			return err
		}
		result.Name = ph.name
		over(result)
	}
	return nil
}

// repeat makes rounds, so many at a time, until there were enough or their time
// is up.
func repeat(ctx context.Context, rounds, jobs int, limit time.Duration, round func(context.Context) error) (Phase, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began := time.Now()
	left := make(chan struct{}, rounds)
	for range rounds {
		left <- struct{}{}
	}
	close(left)
	times := make([][]time.Duration, min(jobs, rounds))
	var work sync.WaitGroup
	for i := range times {
		work.Go(func() { // ends with the rounds, their time or ctx
			for range left {
				start := time.Now()
				if err := round(ctx); err != nil {
					cancel(err)
				}
				if ctx.Err() != nil {
					return
				}
				now := time.Now()
				times[i] = append(times[i], now.Sub(start))
				if now.Sub(began) >= limit {
					return
				}
			}
		})
	}
	work.Wait()
	p := Phase{Took: time.Since(began), Times: slices.Concat(times...)}
	slices.Sort(p.Times)
	return p, context.Cause(ctx)
}
