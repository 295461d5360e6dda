package ui

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// metric is one metric of a background plugin. values returns its values by the value of its
// label; by "" if it has none.
type metric struct {
	name, kind, help, label string
	values                  func(hook.Status) map[string]float64
}

// one is a metric without a label.
func one(value func(hook.Status) float64) func(hook.Status) map[string]float64 {
	return func(st hook.Status) map[string]float64 { return map[string]float64{"": value(st)} }
}

// counts are counters by a label.
func counts[K ~string, N int | uint64](all map[K]N) map[string]float64 {
	values := map[string]float64{}
	for label, n := range all {
		values[string(label)] = float64(n)
	}
	return values
}

var metrics = []metric{
	{"pyplug_state", "gauge", "1 for the state of the plugin.", "state", func(st hook.Status) map[string]float64 {
		return map[string]float64{string(st.State): 1}
	}},
	{"pyplug_workers", "gauge", "Configured workers.", "", one(func(st hook.Status) float64 { return float64(st.Workers) })},
	{"pyplug_workers_ready", "gauge", "Workers that accept calls.", "", one(func(st hook.Status) float64 { return float64(st.Ready) })},
	{"pyplug_calls_total", "counter", "Calls that have finished.", "", one(func(st hook.Status) float64 { return float64(st.Calls) })},
	{"pyplug_calls_failed_total", "counter", "Failed calls by kind of error.", "kind", func(st hook.Status) map[string]float64 { return counts(st.Failures) }},
	{"pyplug_calls_running", "gauge", "Calls that run.", "", one(func(st hook.Status) float64 { return float64(st.Running) })},
	{"pyplug_calls_queued", "gauge", "Calls that wait for a worker.", "", one(func(st hook.Status) float64 { return float64(st.Queued) })},
	{"pyplug_restarts_total", "counter", "Restarts by cause.", "cause", func(st hook.Status) map[string]float64 { return counts(st.RestartCauses) }},
	{"pyplug_memory_bytes", "gauge", "Memory of the plugin's processes, shared memory divided among its users.", "", one(func(st hook.Status) float64 { return float64(st.Memory) })},
	{"pyplug_uptime_seconds", "gauge", "Age of the plugin's process.", "", one(func(st hook.Status) float64 { return time.Duration(st.Uptime).Seconds() })},
}

// Metrics prints the status of background plugins in the text format of Prometheus, version
// 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/. Of a plugin whose
// status is unknown it prints the state alone.
func (s *Streams) Metrics(plugins []Background) error {
	var b strings.Builder
	for _, m := range metrics {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", m.name, m.help, m.kind)
		for _, p := range plugins {
			if p.Status == nil && m.label != "state" {
				continue
			}
			st := Status{State: p.State}
			if p.Status != nil {
				st = *p.Status
			}
			values := m.values(hook.Status(st))
			for _, label := range slices.Sorted(maps.Keys(values)) {
				fmt.Fprintf(&b, "%s{name=%q", m.name, p.Name)
				if m.label != "" {
					fmt.Fprintf(&b, ",%s=%q", m.label, label)
				}
				fmt.Fprintf(&b, "} %v\n", values[label])
			}
		}
	}
	return s.writeOut([]byte(b.String()))
}
