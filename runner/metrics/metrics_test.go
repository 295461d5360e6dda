package metrics

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// greeter returns the status of a plugin.
func greeter() *hook.Status {
	return &hook.Status{
		State: hook.StateReady, Workers: 2, Ready: 1, Calls: 1_200_000, Failed: 3, Failures: map[hook.Kind]uint64{hook.Failed: 2, hook.Timeout: 1},
		Running: 1, Queued: 4, Restarts: 1, RestartCauses: map[string]int{"crash": 1}, Memory: 12 << 20, Uptime: hook.Milliseconds(200500 * time.Millisecond),
	}
}

// TestHooks checks that estimates are at most the longest duration, even in the last bucket.
func TestHooks(t *testing.T) {
	var c Calls
	for range 9 {
		c.Observe("greet", nil, time.Second)
	}
	c.Observe("greet", hook.NewError(hook.Failed, errors.New("no")), 91*time.Second)
	c.Observe("add", nil, time.Millisecond)
	ms := func(d time.Duration) hook.Milliseconds { return hook.Milliseconds(d) }
	want := []hook.HookCalls{
		{Hook: "add", Calls: 1, Mean: ms(time.Millisecond), P50: ms(750 * time.Microsecond), P99: ms(995 * time.Microsecond), Max: ms(time.Millisecond)},
		{Hook: "greet", Calls: 10, Failed: 1, Mean: ms(10 * time.Second), P50: ms(666666666), P99: ms(91 * time.Second), Max: ms(91 * time.Second)},
	}
	if got := c.Hooks(); !slices.Equal(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

const statusText = `
# HELP pyplug_state 1 for the state of the plugin.
# TYPE pyplug_state gauge
pyplug_state{name="greeter",state="backoff"} 0
pyplug_state{name="greeter",state="degraded"} 0
pyplug_state{name="greeter",state="failed"} 0
pyplug_state{name="greeter",state="ready"} 1
pyplug_state{name="greeter",state="starting"} 0
pyplug_state{name="greeter",state="stopped"} 0
pyplug_state{name="greeter",state="stopping"} 0
pyplug_state{name="greeter",state="unknown"} 0
pyplug_state{name="stuck",state="backoff"} 0
pyplug_state{name="stuck",state="degraded"} 0
pyplug_state{name="stuck",state="failed"} 0
pyplug_state{name="stuck",state="ready"} 0
pyplug_state{name="stuck",state="starting"} 0
pyplug_state{name="stuck",state="stopped"} 0
pyplug_state{name="stuck",state="stopping"} 0
pyplug_state{name="stuck",state="unknown"} 1
# HELP pyplug_workers Configured workers.
# TYPE pyplug_workers gauge
pyplug_workers{name="greeter"} 2
# HELP pyplug_workers_ready Workers that accept calls.
# TYPE pyplug_workers_ready gauge
pyplug_workers_ready{name="greeter"} 1
# HELP pyplug_calls_total Calls that have finished.
# TYPE pyplug_calls_total counter
pyplug_calls_total{name="greeter"} 1.2e+06
# HELP pyplug_calls_failed_total Failed calls by kind of error.
# TYPE pyplug_calls_failed_total counter
pyplug_calls_failed_total{name="greeter",kind="canceled"} 0
pyplug_calls_failed_total{name="greeter",kind="crash"} 0
pyplug_calls_failed_total{name="greeter",kind="handshake"} 0
pyplug_calls_failed_total{name="greeter",kind="hook"} 2
pyplug_calls_failed_total{name="greeter",kind="internal"} 0
pyplug_calls_failed_total{name="greeter",kind="interpreter"} 0
pyplug_calls_failed_total{name="greeter",kind="request"} 0
pyplug_calls_failed_total{name="greeter",kind="start"} 0
pyplug_calls_failed_total{name="greeter",kind="timeout"} 1
pyplug_calls_failed_total{name="greeter",kind="unavailable"} 0
pyplug_calls_failed_total{name="greeter",kind="unhealthy"} 0
pyplug_calls_failed_total{name="greeter",kind="usage"} 0
# HELP pyplug_calls_running Running calls.
# TYPE pyplug_calls_running gauge
pyplug_calls_running{name="greeter"} 1
# HELP pyplug_calls_queued Calls in the queue.
# TYPE pyplug_calls_queued gauge
pyplug_calls_queued{name="greeter"} 4
# HELP pyplug_restarts_total Restarts by cause.
# TYPE pyplug_restarts_total counter
pyplug_restarts_total{name="greeter",cause="crash"} 1
pyplug_restarts_total{name="greeter",cause="exit"} 0
pyplug_restarts_total{name="greeter",cause="memory"} 0
pyplug_restarts_total{name="greeter",cause="probe"} 0
pyplug_restarts_total{name="greeter",cause="start"} 0
pyplug_restarts_total{name="greeter",cause="timeout"} 0
# HELP pyplug_memory_bytes Memory of the plugin's processes, shared memory divided among its users.
# TYPE pyplug_memory_bytes gauge
pyplug_memory_bytes{name="greeter"} 1.2582912e+07
# HELP pyplug_uptime_seconds Age of the plugin's process.
# TYPE pyplug_uptime_seconds gauge
pyplug_uptime_seconds{name="greeter"} 200.5
`

func TestStatus(t *testing.T) {
	if got := string(AppendStatus(nil, Plugin{"greeter", greeter()}, Plugin{Name: "stuck"})); got != statusText[1:] {
		t.Errorf("got\n%s\nwant\n%s", got, statusText[1:])
	}
	never := string(AppendStatus(nil, Plugin{"new", &hook.Status{}}))
	if !strings.Contains(never, "pyplug_state{name=\"new\",state=\"stopped\"} 1\n") || strings.Contains(never, `""`) {
		t.Errorf("a plugin that has never started: got\n%s", never)
	}
	// A state of another version of pyplug is printed unchanged.
	if newer := string(AppendStatus(nil, Plugin{"new", &hook.Status{State: "asleep"}})); !strings.Contains(newer, "{name=\"new\",state=\"asleep\"} 1\n") {
		t.Errorf("a state of another version: got\n%s", newer)
	}
}

// TestKnown checks that states and causes list exactly the values in packages hook and pool.
func TestKnown(t *testing.T) {
	for file, c := range map[string]struct {
		constant string
		known    []string
	}{
		"../hook/status.go": {`State\w+\s+State = "(\w+)"`, strings.Fields(strings.Trim(fmt.Sprint(states), "[]"))},
		"../pool/policy.go": {`cause\w+\s+= "(\w+)"`, append(slices.Clone(causes), string(unknown))},
	} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		exist := []string{string(unknown)}
		for _, m := range regexp.MustCompile(c.constant).FindAllSubmatch(source, -1) {
			exist = append(exist, string(m[1]))
		}
		slices.Sort(exist)
		slices.Sort(c.known)
		if !slices.Equal(exist, c.known) {
			t.Errorf("%s has %q, the metrics have %q", file, exist, c.known)
		}
	}
}

// noHook returns the error of a call of a hook that does not exist.
func noHook() *hook.Error { return &hook.Error{Kind: hook.Request, Reason: "no-hook"} }

// samples returns the lines of the calls' metrics that contain all parts.
func samples(c *Calls, parts ...string) (lines []string) {
	_, text, _ := strings.Cut(string(c.Append(nil, Plugin{Name: "p"})), "# HELP pyplug_hook_calls_failed_total")
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") && !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// want fails the test unless the lines that contain all parts are exactly these.
func want(t *testing.T, c *Calls, lines []string, parts ...string) {
	t.Helper()
	if got := samples(c, parts...); !slices.Equal(got, lines) {
		t.Errorf("%q: got\n%s\nwant\n%s", parts, strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

const callsText = `# HELP pyplug_hook_calls_failed_total Failed calls by hook and kind of error.
# TYPE pyplug_hook_calls_failed_total counter
pyplug_hook_calls_failed_total{name="greeter",hook="greet",kind="canceled"} 0
pyplug_hook_calls_failed_total{name="greeter",hook="greet",kind="crash"} 0
pyplug_hook_calls_failed_total{name="greeter",hook="greet",kind="handshake"} 0
pyplug_hook_calls_failed_total{name="greeter",hook="greet",kind="hook"} 1
pyplug_hook_calls_failed_total{name="greeter",hook="greet",kind="internal"} 0
pyplug_hook_calls_failed_total{name="greeter",hook="greet",kind="interpreter"} 0
pyplug_hook_calls_failed_total{name="greeter",hook="greet",kind="request"} 0
pyplug_hook_calls_failed_total{name="greeter",hook="greet",kind="start"} 0
pyplug_hook_calls_failed_total{name="greeter",hook="greet",kind="timeout"} 0
pyplug_hook_calls_failed_total{name="greeter",hook="greet",kind="unavailable"} 0
pyplug_hook_calls_failed_total{name="greeter",hook="greet",kind="unhealthy"} 0
pyplug_hook_calls_failed_total{name="greeter",hook="greet",kind="usage"} 0
# HELP pyplug_call_duration_seconds Duration of calls by hook, including failed calls and the time in the queue.
# TYPE pyplug_call_duration_seconds histogram
pyplug_call_duration_seconds_bucket{name="greeter",hook="greet",le="0.0005"} 0
pyplug_call_duration_seconds_bucket{name="greeter",hook="greet",le="0.001"} 0
pyplug_call_duration_seconds_bucket{name="greeter",hook="greet",le="0.0025"} 0
pyplug_call_duration_seconds_bucket{name="greeter",hook="greet",le="0.01"} 0
pyplug_call_duration_seconds_bucket{name="greeter",hook="greet",le="0.025"} 0
pyplug_call_duration_seconds_bucket{name="greeter",hook="greet",le="0.1"} 0
pyplug_call_duration_seconds_bucket{name="greeter",hook="greet",le="0.25"} 2
pyplug_call_duration_seconds_bucket{name="greeter",hook="greet",le="1"} 3
pyplug_call_duration_seconds_bucket{name="greeter",hook="greet",le="2.5"} 3
pyplug_call_duration_seconds_bucket{name="greeter",hook="greet",le="10"} 3
pyplug_call_duration_seconds_bucket{name="greeter",hook="greet",le="30"} 3
pyplug_call_duration_seconds_bucket{name="greeter",hook="greet",le="60"} 4
pyplug_call_duration_seconds_bucket{name="greeter",hook="greet",le="+Inf"} 5
pyplug_call_duration_seconds_sum{name="greeter",hook="greet"} 121.875
pyplug_call_duration_seconds_count{name="greeter",hook="greet"} 5
`

func TestCalls(t *testing.T) {
	var c Calls
	plugin := Plugin{"greeter", greeter()}
	for _, took := range []time.Duration{125 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Minute} {
		c.Observe("greet", nil, took)
	}
	c.Observe("greet", &hook.Error{Kind: hook.Failed, Err: errors.New("no")}, 61*time.Second)
	if got, want := string(c.Append([]byte("before\n"), plugin)), "before\n"+string(AppendStatus(nil, plugin))+callsText; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestUnknownHooks checks that callers cannot add series with the names of hooks that the plugin
// does not have.
func TestUnknownHooks(t *testing.T) {
	var c Calls
	for i := range 2 * maxHooks {
		c.Observe(fmt.Sprint("a", i), noHook(), 0)
		c.Observe(fmt.Sprint("b", i), &hook.Error{Kind: hook.Unavailable, Reason: "queue-full"}, 0)
		c.Observe(fmt.Sprint("c", i), &hook.Error{Kind: hook.Canceled}, 0)
	}
	want(t, &c, []string{`pyplug_call_duration_seconds_count{name="p",hook="(other)"} 6000`}, "_count{")
	want(t, &c, []string{`pyplug_hook_calls_failed_total{name="p",hook="(other)",kind="request"} 2000`}, `kind="request"`)

	// After a call begins, the hook is known to exist. From then on, its rejected calls are in its
	// own series, until a reload removes the hook.
	c.Observe("slow", &hook.Error{Kind: hook.Timeout, Begun: true}, time.Second)
	c.Observe("raises", &hook.Error{Kind: hook.Failed}, 0)
	c.Observe("slow", &hook.Error{Kind: hook.Unavailable, Reason: "queue-full"}, 0)
	c.Observe("slow", noHook(), 0)
	want(t, &c, []string{
		`pyplug_call_duration_seconds_count{name="p",hook="(other)"} 6001`,
		`pyplug_call_duration_seconds_count{name="p",hook="raises"} 1`, `pyplug_call_duration_seconds_count{name="p",hook="slow"} 2`,
	}, "_count{")

	// The number of existing hooks is limited, too. Hooks that already have series keep them.
	for i := range 2 * maxHooks {
		c.Observe(fmt.Sprint("d", i), nil, 0)
	}
	c.Observe("slow", nil, 0)
	if n := len(samples(&c, "_count{")); n != maxHooks {
		t.Errorf("%d hooks, want %d", n, maxHooks)
	}
	want(t, &c, []string{`pyplug_call_duration_seconds_count{name="p",hook="slow"} 3`}, "_count{", `"slow"`)
	want(t, &c, []string{`pyplug_call_duration_seconds_count{name="p",hook="(other)"} 7004`}, "_count{", otherHooks)
}

// TestEscapes checks that a value has only the escapes of the format, and that no two series are
// equal.
func TestEscapes(t *testing.T) {
	for _, value := range []string{`a\b`, `a"b`, "a\nb", "é\x7f\u2028\t", "\xff", "", otherHooks} {
		var c Calls
		c.Observe(value, nil, 0)
		c.Observe("nosuch", noHook(), 0)
		text := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\xff", "\uFFFD").Replace(value)
		count := "1"
		if value == otherHooks {
			count = "2"
		}
		want(t, &c, []string{`pyplug_call_duration_seconds_count{name="p",hook="` + text + `"} ` + count}, "_count{", `hook="`+text+`"`)
	}
	var c Calls
	c.Observe("\xfe", nil, 0)
	c.Observe("\xff", nil, 0)
	want(t, &c, []string{"pyplug_call_duration_seconds_count{name=\"p\",hook=\"\uFFFD\"} 2"}, "_count{")
	if text := string(AppendStatus(nil, Plugin{Name: "a\n\xff"})); !strings.Contains(text, "{name=\"a\\n\uFFFD\",state=\"unknown\"} 1\n") {
		t.Errorf("got\n%s", text)
	}
}

func TestConcurrent(t *testing.T) {
	var c Calls
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 500 {
				c.Observe(fmt.Sprint("h", i%3), nil, time.Millisecond)
				c.Observe("h0", &hook.Error{Kind: hook.Failed}, time.Millisecond)
				if i%100 == 0 {
					c.Append(nil, Plugin{Name: "p"})
				}
			}
		})
	}
	all.Wait()
	want(t, &c, []string{`pyplug_hook_calls_failed_total{name="p",hook="h0",kind="hook"} 4000`}, `"h0"`, `kind="hook"`)
	want(t, &c, []string{`pyplug_call_duration_seconds_count{name="p",hook="h0"} 5336`}, `"h0"`, "_count{")
}

func BenchmarkObserve(b *testing.B) {
	for name, err := range map[string]*hook.Error{"success": nil, "failure": {Kind: hook.Failed}, "nohook": noHook()} {
		b.Run(name, func(b *testing.B) {
			var c Calls
			for b.Loop() {
				c.Observe("greet", err, 70*time.Millisecond)
			}
		})
		b.Run(name+"-parallel", func(b *testing.B) {
			var c Calls
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					c.Observe("greet", err, 70*time.Millisecond)
				}
			})
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, hooks := range []int{10, maxHooks} {
		b.Run(fmt.Sprint(hooks), func(b *testing.B) {
			var c Calls
			for i := range hooks {
				c.Observe(fmt.Sprint("hook", i), nil, time.Millisecond)
			}
			var text []byte
			for b.Loop() {
				text = c.Append(text[:0], Plugin{"greeter", greeter()})
			}
			b.ReportMetric(float64(len(text)), "bytes")
		})
	}
}
