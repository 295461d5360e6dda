package ui

import (
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestMetrics checks that Prometheus' own parser reads the metrics.
func TestMetrics(t *testing.T) {
	plugins := backgrounds()
	plugins[0].Status.Failures = map[hook.Kind]uint64{hook.Failed: 2, hook.Timeout: 1}
	plugins[0].Status.RestartCauses = map[string]int{"crash": 1}
	s, out, _ := testStreams("")
	if err := s.Metrics(plugins); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(out)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			got[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			name = family.GetName()
		}
	}
	for name, want := range map[string]float64{
		"pyplug_state greeter ready": 1, "pyplug_state greeter unknown": 0, "pyplug_state resize backoff": 1, "pyplug_state stuck unknown": 1,
		"pyplug_calls_total greeter": 1200, "pyplug_calls_failed_total greeter hook": 2, "pyplug_calls_failed_total greeter timeout": 1,
		"pyplug_restarts_total greeter crash": 1, "pyplug_restarts_total resize exit": 0, "pyplug_memory_bytes greeter": 12 << 20, "pyplug_uptime_seconds greeter": 200,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %v, %t, want %v", name, value, ok, want)
		}
	}
	if _, known := got["pyplug_calls_total stuck"]; known {
		t.Error("calls of a plugin whose status is unknown")
	}
}
