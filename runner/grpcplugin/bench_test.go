package grpcplugin_test

import (
	"slices"
	"testing"
	"time"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// BenchmarkOneShot measures a start, a call and a stop. The overhead is their duration without the
// time until the handshake. For comparison it also measures how long the plugin takes to exit
// without pyplug. All figures are medians.
func BenchmarkOneShot(b *testing.B) {
	for name, cfg := range map[string]func() grpcplugin.Config{
		"python":            func() grpcplugin.Config { return zoo(b) },
		"python controller": func() grpcplugin.Config { return zoo(b, "--controller") },
		"go":                func() grpcplugin.Config { return fake(b, "serve", "") },
	} {
		b.Run(name, func(b *testing.B) {
			cfg := cfg()
			cfg.Output = nil
			took := map[string][]time.Duration{}
			for b.Loop() {
				oneShot(b, cfg, took)
				took["own-exit"] = append(took["own-exit"], ownExit(b, cfg))
			}
			for phase, all := range took {
				slices.Sort(all)
				b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, phase+"-ms")
			}
		})
	}
}

func oneShot(b *testing.B, cfg grpcplugin.Config, took map[string][]time.Duration) {
	began := time.Now()
	last := began
	note := func(phase string, less time.Duration) {
		took[phase] = append(took[phase], time.Since(last)-less)
		last = time.Now()
	}
	launched, err := grpcplugin.New(cfg).Launch(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	inst := launched.(*grpcplugin.Instance)
	e := inst.Evidence()
	took["handshake"] = append(took["handshake"], e.Handshake)
	note("ready", e.Handshake)
	if _, err := inst.Describe(b.Context(), schema.Query{Hook: "Echo"}); err != nil { // loads the descriptors
		b.Fatal(err)
	}
	note("describe", 0)
	if _, err := inst.Call(b.Context(), words(b, "Echo", "text=x")); err != nil {
		b.Fatal(err)
	}
	note("call", 0)
	inst.Stop(b.Context())
	note("stop", 0)
	took["overhead"] = append(took["overhead"], time.Since(began)-e.Handshake)
}

// ownExit returns how long a plugin without connections takes to be gone after the signal that ends
// it.
func ownExit(b *testing.B, cfg grpcplugin.Config) time.Duration {
	line := make(chan struct{}, 1)
	p, err := proc.Start(proc.Spec{Path: cfg.Path, Args: cfg.Args,
		Env: append(handshake.Env(handshake.Host{
			CookieKey: cfg.CookieKey, CookieValue: cfg.CookieValue, Versions: []int{1}, SocketDir: b.TempDir(),
		}), append(cfg.Env, "PYTHONUNBUFFERED=1", "PYTHONFAULTHANDLER=1")...),
		OnLine: func(l proc.Line) {
			if handshake.Looks(l.Text) {
				line <- struct{}{}
			}
		}})
	if err != nil {
		b.Fatal(err)
	}
	<-line
	began := time.Now()
	p.Stop(b.Context(), nil)
	return time.Since(began)
}

// BenchmarkCall measures one call of a running plugin.
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
