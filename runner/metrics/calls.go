package metrics

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// otherHooks is the label of all calls whose hook has no series of its own. No hook can have this
// name, because identifiers and gRPC methods have no parentheses.
const otherHooks = "(other)"

// maxHooks is the maximum number of hooks with series of their own, 27 each.
const maxHooks = 1000

// bounds are the upper bounds of the histogram's buckets. The last bucket has no bound.
var bounds = [...]time.Duration{
	500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 10 * time.Millisecond, 25 * time.Millisecond, 100 * time.Millisecond,
	250 * time.Millisecond, time.Second, 2500 * time.Millisecond, 10 * time.Second, 30 * time.Second, time.Minute,
}

// Calls counts the calls of one plugin by hook. The zero value is ready. All methods are safe for
// concurrent use.
type Calls struct {
	mu    sync.Mutex
	hooks map[string]*series // by the label of the hook
}

// series contains the counts of one hook's calls.
type series struct {
	failures map[hook.Kind]uint64
	buckets  [len(bounds) + 1]uint64 // calls above the previous bound, up to the bucket's own
	sum      float64                 // seconds; a Duration would overflow after 292 years of calls
	longest  time.Duration
}

// Observe counts a finished call: its hook, its error or nil, and its duration.
func (c *Calls) Observe(hookName string, err *hook.Error, took time.Duration) {
	label := valid(hookName)
	if err != nil && err.Reason == "no-hook" {
		label = otherHooks
	}
	bucket, _ := slices.BinarySearch(bounds[:], took)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.series(label, err)
	s.buckets[bucket]++
	s.sum += took.Seconds()
	s.longest = max(s.longest, took)
	if err != nil {
		s.failures[err.Kind]++
	}
}

// series returns the series of a hook. It returns the series of [otherHooks] if no call has shown
// yet that the plugin has the hook, or if there are too many hooks. A rejected call, such as one
// that found the queue full, shows nothing, because its hook may be any text. The caller holds
// c.mu.
func (c *Calls) series(label string, err *hook.Error) *series {
	s := c.hooks[label]
	if has := err == nil || err.Kind == hook.Failed || err.Begun; s == nil && (!has || len(c.hooks) >= maxHooks) {
		label = otherHooks
		s = c.hooks[label]
	}
	if s == nil {
		if c.hooks == nil {
			c.hooks = map[string]*series{}
		}
		s = &series{failures: map[hook.Kind]uint64{}}
		c.hooks[strings.Clone(label)] = s // clone it, because the name may be part of a large request
	}
	return s
}

// Hooks returns the calls by hook, sorted by its label.
func (c *Calls) Hooks() (all []hook.HookCalls) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, label := range slices.Sorted(maps.Keys(c.hooks)) {
		s := c.hooks[label]
		h := hook.HookCalls{Hook: label, P50: s.quantile(0.5), P99: s.quantile(0.99), Max: hook.Milliseconds(s.longest)}
		for _, count := range s.buckets {
			h.Calls += count
		}
		for _, count := range s.failures {
			h.Failed += count
		}
		h.Mean = hook.Milliseconds(s.sum / float64(h.Calls) * float64(time.Second))
		all = append(all, h)
	}
	return all
}

// quantile estimates a quantile as Prometheus does: it assumes that the calls of a bucket are
// spread evenly. The result is at most the longest duration.
func (s *series) quantile(q float64) hook.Milliseconds {
	all := uint64(0)
	for _, count := range s.buckets {
		all += count
	}
	rank, low := q*float64(all), time.Duration(0)
	for i, high := range bounds {
		count := float64(s.buckets[i])
		if rank <= count && count > 0 {
			return hook.Milliseconds(min(s.longest, low+time.Duration(rank/count*float64(high-low))))
		}
		rank, low = rank-count, high
	}
	return hook.Milliseconds(s.longest) // the last bucket has no upper bound
}

// Append appends the metrics of the plugin's status and those of its calls to text.
//
// The metrics by hook have names of their own, because `status --metrics` does not know the hooks.
// If pyplug_calls_failed_total had a label for the hook, `status --metrics` would print it with
// other labels, and a sum over both would count each failure twice. The sums over all hooks equal
// pyplug_calls_total and pyplug_calls_failed_total if all calls of the plugin are observed here.
// There is no counter of the calls of a hook, because it would repeat the _count of the hook's
// histogram.
func (c *Calls) Append(text []byte, p Plugin) []byte {
	text = AppendStatus(text, p)
	c.mu.Lock()
	hooks := map[string]series{}
	for label, s := range c.hooks {
		hooks[label] = series{maps.Clone(s.failures), s.buckets, s.sum, s.longest}
	}
	c.mu.Unlock()
	labels := slices.Sorted(maps.Keys(hooks))

	const failed = "pyplug_hook_calls_failed_total"
	text = appendHeader(text, failed, "counter", "Failed calls by hook and kind of error.")
	for _, label := range labels {
		values := counts(hooks[label].failures, hook.Kinds())
		for _, kind := range slices.Sorted(maps.Keys(values)) {
			text = appendSample(text, failed, values[kind], "name", p.Name, "hook", label, "kind", kind)
		}
	}

	const duration = "pyplug_call_duration_seconds"
	text = appendHeader(text, duration, "histogram", "Duration of calls by hook, including failed calls and the time in the queue.")
	for _, label := range labels {
		s, n := hooks[label], uint64(0)
		for i, count := range s.buckets {
			n += count
			le := "+Inf"
			if i < len(bounds) {
				le = fmt.Sprint(bounds[i].Seconds())
			}
			text = appendSample(text, duration+"_bucket", float64(n), "name", p.Name, "hook", label, "le", le)
		}
		text = appendSample(text, duration+"_sum", s.sum, "name", p.Name, "hook", label)
		text = appendSample(text, duration+"_count", float64(n), "name", p.Name, "hook", label)
	}
	return text
}
