package grpcplugin_test

import (
	"testing"

	"github.com/pyplug/pyplug/runner/grpcplugin"
)

// BenchmarkOneShot is a start, a call and a stop. What pyplug adds to the
// plugin's own start is told as overhead.
func BenchmarkOneShot(b *testing.B) {
	for name, cfg := range map[string]func() grpcplugin.Config{
		"python":            func() grpcplugin.Config { return zoo(b) },
		"python controller": func() grpcplugin.Config { return zoo(b, "--controller") },
		"go":                func() grpcplugin.Config { return fake(b, "serve", "") },
	} {
		b.Run(name, func(b *testing.B) {
			var connect, health float64
			launcher := grpcplugin.New(cfg())
			call := words(b, "Echo", "text=x")
			var overhead float64
			for b.Loop() {
				inst, err := launcher.Launch(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				if _, err := inst.Call(b.Context(), call); err != nil {
					b.Fatal(err)
				}
				inst.Stop(b.Context())
				e := inst.(*grpcplugin.Instance).Evidence()
				overhead += float64((inst.Exit().Uptime - e.Handshake).Microseconds())
				connect += float64(e.Connect.Microseconds())
				health += float64(e.Health.Microseconds())
			}
			b.ReportMetric(overhead/float64(b.N)/1000, "overhead-ms/op")
			b.ReportMetric(connect/float64(b.N)/1000, "connect-ms/op")
			b.ReportMetric(health/float64(b.N)/1000, "health-ms/op")
		})
	}
}

// BenchmarkCall is one call of a plugin that runs.
func BenchmarkCall(b *testing.B) {
	launcher := grpcplugin.New(zoo(b))
	inst, err := launcher.Launch(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer inst.Stop(b.Context())
	call := words(b, "Echo", "text=x")
	for b.Loop() {
		if _, err := inst.Call(b.Context(), call); err != nil {
			b.Fatal(err)
		}
	}
}
