package lines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// mixedCaller makes calls whose argument is the number of their line. takes has the duration of
// each. Like a worker, it does not make the calls of a series behind a slow one.
type mixedCaller struct {
	takes []time.Duration // how long the call of each line takes

	mu    sync.Mutex
	last  int         // the last line that was passed on
	made  map[int]int // how often the call of each line was made
	later int         // the number of calls that were added to a running series
}

func (m *mixedCaller) pass(calls ...hook.Call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range calls {
		m.last = max(m.last, lineOf(c))
	}
}

func lineOf(c hook.Call) int {
	var args []int
	if err := json.Unmarshal(c.Args.JSON, &args); err != nil {
		panic(err)
	}
	return args[0]
}

func (m *mixedCaller) make(ctx context.Context, c hook.Call) (hook.Result, *hook.Error) {
	m.mu.Lock()
	m.made[lineOf(c)]++
	m.mu.Unlock()
	select {
	case <-time.After(m.takes[lineOf(c)]):
		return valued([]byte(fmt.Sprint(lineOf(c)))), nil
	case <-ctx.Done():
		return hook.Result{}, hook.AsError(hook.Ended(ctx, c.Hook, "", true))
	}
}

func (m *mixedCaller) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	m.pass(c)
	r, err := m.make(ctx, c)
	if err != nil {
		return r, err
	}
	return r, nil
}

func (m *mixedCaller) CallSeries(ctx context.Context, s *hook.Series) {
	m.pass(s.Calls...)
	for began := time.Now(); len(s.Calls) > 0 && time.Since(began) == 0; {
		if len(s.Calls) <= 2 {
			before := len(s.Calls)
			s.Extend(4)
			m.pass(s.Calls...)
			m.mu.Lock()
			m.later += len(s.Calls) - before
			m.mu.Unlock()
		}
		s.Answer(m.make(ctx, s.Calls[0]))
	}
}

// mixed returns n lines, and their caller. Some lines are slow, and some cannot be parsed.
func mixed(r *rand.Rand, n int) (m *mixedCaller, lines []string) {
	m = &mixedCaller{takes: make([]time.Duration, n+1), made: map[int]int{}}
	for i := range n {
		switch r.IntN(30) {
		case 0:
			lines = append(lines, "x")
			continue
		case 1, 2, 3:
			m.takes[i+1] = time.Duration(r.IntN(5)) * time.Second
		}
		lines = append(lines, fmt.Sprint(i+1))
	}
	return m, lines
}

// answered returns the ids of the written answers, in order.
func (r *running) answered(t *testing.T) (ids []int) {
	t.Helper()
	for line := range strings.Lines(r.out.String()) {
		var answer struct{ ID int }
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		ids = append(ids, answer.ID)
	}
	return ids
}

// TestNoGaps stops engines with several jobs, and cancels some, while lines wait that were handed
// back behind a slow call. It checks that every line before an answered one is answered, that no
// line is called after those that were passed on before the stop, and that the answers are in order
// unless the option Unordered is set.
func TestNoGaps(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			m, input := mixed(random, 400)
			unordered := random.IntN(2) == 0
			r := start(t, m, func(o *Options) { o.Jobs, o.Series, o.Unordered = 1+random.IntN(4), 2<<random.IntN(5), unordered })
			r.feed(input...)
			time.Sleep(time.Duration(random.IntN(20_000)) * time.Millisecond)
			synctest.Wait()
			last := m.last
			close(r.stop)
			if random.IntN(3) == 0 {
				time.Sleep(time.Second / 2)
				r.kill(errors.New("interrupted"))
			}
			<-r.done
			got := r.answered(t)
			if unordered {
				slices.Sort(got)
			}
			for i, id := range got {
				if id != i+1 {
					t.Fatalf("seed %d: answer %d is that of line %d, all: %v", seed, i+1, id, got)
				}
			}
			if c := r.Counts(); r.err != nil || c.Last != int64(len(got)) || c.Answered != c.Last || c.Running != 0 {
				t.Errorf("seed %d: %d answers, %+v, %v", seed, len(got), c, r.err)
			}
			for ; last < len(input) && input[last] == "x"; last++ { // such a line needs no call
			}
			if len(got) > last {
				t.Errorf("seed %d: line %d was answered after the stop, want none behind %d", seed, len(got), last)
			}
			for line, n := range m.made {
				if n != 1 {
					t.Errorf("seed %d: the call of line %d was made %d times", seed, line, n)
				}
			}
		})
	}
}

// TestSlowInSeries checks that a series is extended while its calls are fast, and that only a few
// lines wait behind a slow call of a series, while another job calls the others.
func TestSlowInSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := mixed(rand.New(rand.NewPCG(0, 0)), 0)
		m.takes = make([]time.Duration, 201)
		m.takes[100] = time.Minute
		var input []string
		for line := range 200 {
			input = append(input, fmt.Sprint(line+1))
		}
		r := start(t, m, func(o *Options) { o.Jobs, o.Series, o.Unordered = 2, 8, true })
		r.feed(input...)
		time.Sleep(time.Second)
		synctest.Wait()
		if c := r.Counts(); c.Answered < 200-8-4 || c.Answered == 200 || c.Running != 1 || m.later == 0 {
			t.Errorf("while a call is slow: %+v, %d calls came as a series went on", c, m.later)
		}
		r.in.Close()
		<-r.done
		if got := r.answered(t); len(got) != 200 || len(m.made) != 200 {
			t.Errorf("%d lines are answered by %d calls", len(got), len(m.made))
		}
	})
}

// TestAllHelp checks that after the end of the input, a job without lines waits for lines that
// another job hands back.
func TestAllHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOutbox(io.Discard, nil, true, 8)
		for i := range 3 {
			o.admit(&task{line: i + 1})
		}
		o.close(nil, false)
		first, second := o.take(3), make(chan []*task)
		go func() { second <- o.take(1) }() // ends with release
		synctest.Wait()
		o.release(first, 1)
		if got := <-second; len(got) != 1 || got[0].line != 2 {
			t.Errorf("the other job got %v, want line 2", got)
		}
	})
}
