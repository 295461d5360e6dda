package runner

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/manifest"
)

// TestResolveKeep holds what comes before what: flag, manifest, default.
func TestResolveKeep(t *testing.T) {
	zero, second, five := time.Duration(0), time.Second, 5
	said := manifest.Manifest{
		Workers: 3, Concurrency: 4, Preload: "off",
		Restart: manifest.Restart{Policy: "on-failure", Max: &five, Backoff: &zero, BackoffMax: &second, HealthyAfter: &second},
		Limits:  manifest.Limits{Memory: 100, Calls: 7, Age: time.Hour},
	}
	plain := Keep{Workers: 1, Concurrency: 1, Restart: "always", Preload: "auto"}
	grpc := plain
	grpc.Concurrency, grpc.Preload = manyCalls, "off"
	if runtime.GOOS != "linux" {
		said.Limits.Memory = 0 // cannot be held
	}
	for name, c := range map[string]struct {
		given    Keep
		manifest manifest.Manifest
		grpc     bool
		want     Keep
	}{
		"nobody":       {want: plain},
		"nobody, grpc": {grpc: true, want: grpc},
		"who calls": {
			given: Keep{DefaultRestart: "no", DefaultMaxRestarts: 5, DefaultConcurrency: 8},
			want: Keep{Workers: 1, Concurrency: 8, DefaultConcurrency: 8, Restart: "no", DefaultRestart: "no",
				MaxRestarts: 5, DefaultMaxRestarts: 5, Preload: "auto"},
		},
		"the manifest": {
			manifest: said, given: Keep{DefaultMaxRestarts: 9, DefaultConcurrency: 8},
			want: Keep{Workers: 3, Concurrency: 4, DefaultConcurrency: 8, Restart: "on-failure", MaxRestarts: 5, DefaultMaxRestarts: 9, Backoff: atOnce,
				BackoffMax: second, HealthyAfter: second, MaxMemory: said.Limits.Memory,
				MaxCalls: 7, MaxAge: time.Hour, Preload: "off"},
		},
		"flags": {
			manifest: said,
			given: Keep{Workers: 2, Concurrency: 1, Restart: "no", MaxRestarts: -1, Backoff: 2 * second, BackoffMax: 3 * second,
				HealthyAfter: 4 * second, MaxMemory: -1, MaxCalls: -1, MaxAge: -1, IdleTime: -1, QueueTimeout: -1, Preload: "auto"},
			want: Keep{Workers: 2, Concurrency: 1, Restart: "no", Backoff: 2 * second, BackoffMax: 3 * second,
				HealthyAfter: 4 * second, Preload: "auto"},
		},
		"auto": {
			given: Keep{Workers: AutoWorkers},
			want:  Keep{Workers: runtime.GOMAXPROCS(0), Concurrency: 1, Restart: "always", Preload: "auto"},
		},
	} {
		if got, _, err := resolveKeep(c.given, c.manifest, c.grpc); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got\n%+v, %v, want\n%+v", name, got, err, c.want)
		}
	}
	for words, c := range map[string]struct {
		given Keep
		grpc  bool
	}{
		"threads are for functions files": {Keep{Threads: true}, true},
		"preload is for functions files":  {Keep{Preload: "force"}, true},
		`restart policy "maybe"`:          {Keep{Restart: "maybe"}, false},
	} {
		if _, _, err := resolveKeep(c.given, manifest.Manifest{}, c.grpc); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("got %v, want %q", err, words)
		}
	}
}

func TestTooMany(t *testing.T) {
	most := max(runtime.GOMAXPROCS(0), manyWorkers)
	if text := (Keep{Workers: most}).tooMany(); text != "" {
		t.Errorf("%d workers: %s", most, text)
	}
	if text := (Keep{Workers: most + 1}).tooMany(); text == "" {
		t.Errorf("%d workers are not too many", most+1)
	}
}
