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
	// Limit is after how long no round of a phase begins any more; the first call of
	// a fresh worker does not count to it. 0: 3 s.
	Limit time.Duration
	// Jobs is how many calls are made at once in the phase pipelined; 0: 64. It
	// has fewer where so many take longer than a quarter of Limit.
	Jobs int
	// Skip leaves phases out, by name.
	Skip []string
}

// Concurrent is how many calls are made at once in the phase pipelined, at most.
func (o Options) Concurrent() int {
	o = o.settled()
	return min(o.Jobs, o.Rounds)
}

// settled has the defaults in it.
func (o Options) settled() Options {
	if o.Rounds <= 0 {
		o.Rounds = defaultRounds
	}
	if o.Jobs <= 0 {
		o.Jobs = defaultJobs
	}
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	return o
}

// Listener is told what becomes of the phases, by one goroutine.
type Listener struct {
	// Began is told the name of each phase before its first round.
	Began func(name string)
	// Over is told what was measured.
	Over func(Phase)
	// LeftOut is told that pipelined has nothing to tell, since one call, which
	// takes so long, takes more than an eighth of the limit.
	LeftOut func(name string, call time.Duration)
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

// DefaultLimit is how long a phase begins rounds unless Options say otherwise.
const DefaultLimit = 3 * time.Second

const (
	defaultRounds = 10_000
	defaultJobs   = 64
	// costly is how many times fewer rounds a phase has that starts processes.
	costly = 100
	// warmUp is how many calls of a fresh worker do not count, at most: a tenth
	// of the phase's time ends them, too.
	warmUp = 200
	// crowd is the part of the phase's time that the calls of pipelined which are
	// made at once may take, together.
	crowd = 4
)

// Phase is what was measured of one way of using a plugin.
type Phase struct {
	Name string
	// Jobs is how many rounds were made at once.
	Jobs int
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

// Measure goes through the phases, and tells l of each. The error is the first of a
// round, or else the cause of ctx's end; the phases before it were told.
func Measure(ctx context.Context, t Target, o Options, l Listener) error {
	m := measurement{Options: o.settled(), target: t}
	few := max(1, m.Rounds/costly)
	for _, ph := range []struct {
		name    string
		measure func(context.Context, limit) (Phase, error)
	}{
		{Cold, func(ctx context.Context, end limit) (Phase, error) { return repeat(ctx, few, 1, end, t.Cold) }},
		{Warm, m.warm},
		{Pipelined, m.pipelined},
		{Crash, func(ctx context.Context, end limit) (Phase, error) { return repeat(ctx, few, 1, end, t.Crash) }},
	} {
		if slices.Contains(o.Skip, ph.name) {
			continue
		}
		l.Began(ph.name)
		p, err := ph.measure(ctx, limit{time.Now(), m.Limit})
		switch {
		case err != nil:
			return err
		case len(p.Times) == 0:
			l.LeftOut(ph.name, m.call)
		default:
			p.Name = ph.name
			l.Over(p)
		}
	}
	return nil
}

// measurement is what the warm phases know of each other.
type measurement struct {
	Options
	target Target
	call   time.Duration // what one call takes by itself; 0: not known
}

// limit is when the rounds of a phase are to end.
type limit struct {
	began  time.Time
	length time.Duration
}

func (l limit) reached() bool { return time.Since(l.began) >= l.length }

// warm makes one call after the other.
func (m *measurement) warm(ctx context.Context, end limit) (Phase, error) {
	end, err := m.warmUp(ctx, end)
	if err != nil {
		return Phase{}, err
	}
	p, err := repeat(ctx, m.Rounds, 1, end, m.target.Call)
	m.call = p.Percentile(50)
	return p, err
}

// warmUp makes the calls that do not count, one at least. The limit is renewed after
// that one, which may load what the others find.
func (m *measurement) warmUp(ctx context.Context, end limit) (limit, error) {
	first, err := repeat(ctx, 1, 1, end, m.target.Call)
	end.began = time.Now()
	brief := limit{end.began, min(end.length, DefaultLimit) / 10}
	if err != nil || first.Took >= brief.length {
		return end, err
	}
	_, err = repeat(ctx, min(warmUp, m.Rounds), 1, brief, m.target.Call)
	return end, err
}

// pipelined makes several calls at once: as many as were asked for, unless that
// measured little but how long they wait for each other. Whether they do, which
// only the plugin knows, is found out by 2, 4 and so on of them. No rounds: not
// even two were worth it.
func (m *measurement) pipelined(ctx context.Context, end limit) (Phase, error) {
	jobs, most := 1, m.Concurrent()
	if m.call == 0 {
		var err error
		if end, err = m.warmUp(ctx, end); err != nil {
			return Phase{}, err
		}
	}
	if m.call == 0 && most > 1 {
		one, err := repeat(ctx, 1, 1, end, m.target.Call)
		if err != nil {
			return Phase{}, err
		}
		m.call = one.Took
	}
	for took := m.call; jobs < most && 2*took <= end.length/crowd; {
		jobs = min(2*jobs, most)
		p, err := repeat(ctx, jobs, jobs, end, m.target.Call)
		if err != nil {
			return Phase{}, err
		}
		took = p.Took
	}
	if jobs == 1 && most > 1 {
		return Phase{}, nil
	}
	return repeat(ctx, m.Rounds, jobs, end, m.target.Call)
}

// repeat makes rounds, so many at a time, until there were enough or the end is
// reached; those that run then, and one for each of jobs, are waited for.
func repeat(ctx context.Context, rounds, jobs int, end limit, round func(context.Context) error) (Phase, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began := time.Now()
	left := make(chan struct{}, rounds)
	for range rounds {
		left <- struct{}{}
	}
	close(left)
	failed := make(chan error, 1) // the first error of a round: others follow from it
	times := make([][]time.Duration, min(jobs, rounds))
	var work sync.WaitGroup
	for i := range times {
		work.Go(func() { // ends with the rounds, the end or ctx
			for range left {
				start := time.Now()
				if err := round(ctx); err != nil {
					select {
					case failed <- err:
					default:
					}
					cancel()
				}
				if ctx.Err() != nil {
					return
				}
				times[i] = append(times[i], time.Since(start))
				if end.reached() {
					return
				}
			}
		})
	}
	work.Wait()
	p := Phase{Jobs: len(times), Took: time.Since(began), Times: slices.Concat(times...)}
	slices.Sort(p.Times)
	select {
	case err := <-failed:
		return p, err
	default:
		return p, context.Cause(ctx)
	}
}
