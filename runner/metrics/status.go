package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// ContentType is the media type of the text.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Plugin is the name and the status of a plugin.
type Plugin struct {
	// Name is the value of the label "name".
	Name string
	// Status is the plugin's status, or nil if it is unknown.
	Status *hook.Status
}

// metric is a metric of a plugin's status. values returns the metric's value for each value of its
// label. The key is "" if the metric has no label.
type metric struct {
	name, kind, help, label string
	values                  func(hook.Status) map[string]float64
}

// one returns the values of a metric without a label.
func one(value func(hook.Status) float64) func(hook.Status) map[string]float64 {
	return func(st hook.Status) map[string]float64 { return map[string]float64{"": value(st)} }
}

// counts returns counters by the value of their label. It adds zeros for the known labels.
func counts[K ~string, N int | uint64](all map[K]N, known []K) map[string]float64 {
	values := map[string]float64{}
	for _, label := range known {
		values[string(label)] = 0
	}
	for label, n := range all {
		values[string(label)] = float64(n)
	}
	return values
}

// unknown is the state of a plugin whose status is unknown.
const unknown hook.State = "unknown"

// states lists all states.
var states = []hook.State{
	hook.StateStopped, hook.StateFailed, hook.StateStopping, hook.StateBackoff, hook.StateStarting, hook.StateDegraded, hook.StateReady, unknown,
}

// causes lists the causes of restarts that [hook.Status] documents.
var causes = []string{"crash", "exit", "memory", "timeout", "probe", "start"}

var metrics = []metric{
	{"pyplug_state", "gauge", "1 for the state of the plugin.", "state", func(st hook.Status) map[string]float64 {
		// A plugin that has never started counts as stopped, because an empty label would mean no
		// label.
		return counts(map[hook.State]int{cmp.Or(st.State, hook.StateStopped): 1}, states)
	}},
	{"pyplug_workers", "gauge", "Configured workers.", "", one(func(st hook.Status) float64 { return float64(st.Workers) })},
	{"pyplug_workers_ready", "gauge", "Workers that accept calls.", "", one(func(st hook.Status) float64 { return float64(st.Ready) })},
	{"pyplug_calls_total", "counter", "Calls that have finished.", "", one(func(st hook.Status) float64 { return float64(st.Calls) })},
	{"pyplug_calls_failed_total", "counter", "Failed calls by kind of error.", "kind", func(st hook.Status) map[string]float64 {
		return counts(st.Failures, hook.Kinds())
	}},
	{"pyplug_calls_running", "gauge", "Running calls.", "", one(func(st hook.Status) float64 { return float64(st.Running) })},
	{"pyplug_calls_queued", "gauge", "Calls in the queue.", "", one(func(st hook.Status) float64 { return float64(st.Queued) })},
	{"pyplug_restarts_total", "counter", "Restarts by cause.", "cause", func(st hook.Status) map[string]float64 { return counts(st.RestartCauses, causes) }},
	{"pyplug_memory_bytes", "gauge", "Memory of the plugin's processes, shared memory divided among its users.", "", one(func(st hook.Status) float64 { return float64(st.Memory) })},
	{"pyplug_uptime_seconds", "gauge", "Age of the plugin's process.", "", one(func(st hook.Status) float64 { return time.Duration(st.Uptime).Seconds() })},
}

// AppendStatus appends the metrics of the plugins' status to text. For a plugin with an unknown
// status it appends only the state.
func AppendStatus(text []byte, plugins ...Plugin) []byte {
	for _, m := range metrics {
		text = appendHeader(text, m.name, m.kind, m.help)
		for _, p := range plugins {
			if p.Status == nil && m.label != "state" {
				continue
			}
			values := m.values(*cmp.Or(p.Status, &hook.Status{State: unknown}))
			for _, label := range slices.Sorted(maps.Keys(values)) {
				labels := []string{"name", p.Name, m.label, label}
				if m.label == "" {
					labels = labels[:2]
				}
				text = appendSample(text, m.name, values[label], labels...)
			}
		}
	}
	return text
}

// appendHeader appends the lines before the samples of a metric.
func appendHeader(text []byte, name, kind, help string) []byte {
	return fmt.Appendf(text, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind)
}

// escape escapes the value of a label. The format has no other escapes.
var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// appendSample appends a sample. labels is a list of names, each followed by its value.
func appendSample(text []byte, name string, value float64, labels ...string) []byte {
	text = append(text, name...)
	before := byte('{')
	for pair := range slices.Chunk(labels, 2) {
		text = append(text, before)
		text = append(text, pair[0]...)
		text = append(text, `="`...)
		text = append(text, escape.Replace(valid(pair[1]))...)
		text = append(text, '"')
		before = ','
	}
	return fmt.Appendf(text, "} %v\n", value)
}

// valid replaces invalid UTF-8, which the format does not allow.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
