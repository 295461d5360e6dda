package runner

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/pool"
)

// TestResolveKeep holds what comes before what: flag, manifest, default.
func TestResolveKeep(t *testing.T) {
	const second = time.Second
	said := manifest.Manifest{
		Workers: 3, Concurrency: 4, Preload: "off",
		Restart: manifest.Restart{Policy: "on-failure", Max: 5, Backoff: manifest.AtOnce, BackoffMax: second, HealthyAfter: second},
		Limits:  manifest.Limits{Memory: 100, Calls: 7, Age: time.Hour},
	}
	type change = func(k *Keep)
	nothing := func(*Keep) {}
	grpc := func(k *Keep) { k.Concurrency, k.Preload = manyCalls, "off" }
	if runtime.GOOS != "linux" {
		said.Limits.Memory = 0 // cannot be held
	}
	ofManifest := func(k *Keep) {
		k.Workers, k.Concurrency, k.Preload = 3, 4, "off"
		k.Policy = pool.Policy{Restart: "on-failure", MaxFailures: 5, Backoff: manifest.AtOnce, BackoffMax: second, HealthyAfter: second}
		k.MaxMemory, k.MaxCalls, k.MaxAge = said.Limits.Memory, 7, time.Hour
	}
	for name, c := range map[string]struct {
		given    change
		manifest manifest.Manifest
		grpc     bool
		want     change // of one worker with the defaults
	}{
		"nobody":       {given: nothing, want: nothing},
		"nobody, grpc": {given: nothing, grpc: true, want: grpc},
		"who calls": {
			given: func(k *Keep) { k.DefaultMaxFailures, k.DefaultConcurrency = 5, 8 },
			want:  func(k *Keep) { k.MaxFailures, k.Concurrency = 5, 8 },
		},
		"the manifest": {
			manifest: said, given: func(k *Keep) { k.DefaultMaxFailures, k.DefaultConcurrency = 9, 8 },
			want: ofManifest,
		},
		"flags": {
			manifest: said,
			given: func(k *Keep) {
				k.Workers, k.Concurrency, k.Preload = 2, 1, "auto"
				k.Policy = pool.Policy{Restart: "no", MaxFailures: -1, Backoff: 2 * second, BackoffMax: 3 * second, HealthyAfter: 4 * second}
				k.MaxMemory, k.MaxCalls, k.MaxAge = -1, -1, -1
			},
			want: func(k *Keep) {
				k.Workers = 2
				k.Policy = pool.Policy{Restart: "no", Backoff: 2 * second, BackoffMax: 3 * second, HealthyAfter: 4 * second}
			},
		},
		"jobs":              {given: func(k *Keep) { k.Jobs = 8 }, want: func(k *Keep) { k.Workers = 8 }},
		"jobs, grpc":        {given: func(k *Keep) { k.Jobs = 8 }, grpc: true, want: grpc},
		"jobs, manifest":    {manifest: said, given: func(k *Keep) { k.Jobs = 8 }, want: ofManifest},
		"jobs, workers":     {given: func(k *Keep) { k.Jobs, k.Workers = 8, 2 }, want: func(k *Keep) { k.Workers = 2 }},
		"jobs, concurrency": {given: func(k *Keep) { k.Jobs, k.Concurrency = 9, 4 }, want: func(k *Keep) { k.Workers, k.Concurrency = 3, 4 }},
		"jobs, threads":     {given: func(k *Keep) { k.Jobs, k.Threads = 8, true }, want: func(k *Keep) { k.Concurrency, k.Threads = 8, true }},
		"many jobs":         {given: func(k *Keep) { k.Jobs = MaxConcurrency }, want: func(k *Keep) { k.Workers = MaxWorkers }},
		"auto": {
			given: func(k *Keep) { k.Workers = AutoWorkers },
			want:  func(k *Keep) { k.Workers = runtime.GOMAXPROCS(0) },
		},
	} {
		var given Keep
		c.given(&given)
		want := Keep{Preload: "auto", DefaultMaxFailures: given.DefaultMaxFailures, DefaultConcurrency: given.DefaultConcurrency, Jobs: given.Jobs}
		want.Workers, want.Concurrency, want.Restart = 1, 1, "always"
		c.want(&want)
		if got, _, err := resolveKeep(given, c.manifest, c.grpc); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got\n%+v, %v, want\n%+v", name, got, err, want)
		}
	}
	for words, given := range map[string]Keep{
		"threads applies only to functions files": {Threads: true},
		"preload applies only to functions files": {Preload: "force"},
	} {
		if _, _, err := resolveKeep(given, manifest.Manifest{}, true); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("got %v, want %q", err, words)
		}
	}
}
