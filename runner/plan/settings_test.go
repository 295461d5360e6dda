package plan

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/settings"
)

// TestSettingsOf checks the precedence of flags, the manifest, the caller's defaults and the
// defaults.
func TestSettingsOf(t *testing.T) {
	const second = time.Second
	said := settings.Settings{
		Workers: 3, Concurrency: 4, Preload: "off",
		Restart: settings.Restart{Policy: "on-failure", Max: 5, Backoff: settings.AtOnce, BackoffMax: second, HealthyAfter: second},
		Limits:  settings.Limits{Memory: 100, Calls: 7, Age: time.Hour},
	}
	type change = func(c *Config)
	nothing := func(*Config) {}
	grpc := func(c *Config) { c.Concurrency, c.Preload, c.Timeouts.Start = 100, "off", 30*second }
	if runtime.GOOS != "linux" {
		said.Limits.Memory = 0 // only Linux can enforce it
	}
	ofManifest := func(c *Config) {
		c.Workers, c.Concurrency, c.Preload, c.Restart = 3, 4, "off", said.Restart
		c.Limits.Calls, c.Limits.Age = 7, time.Hour
		if said.Limits.Memory != 0 {
			c.Limits.Memory = said.Limits.Memory
		}
	}
	usual := func(c *Config) { c.Defaults = settings.Settings{Restart: settings.Restart{Max: 9}, Concurrency: 8} }
	for name, c := range map[string]struct {
		given    change
		manifest settings.Settings
		grpc     bool
		want     change // differences from the defaults
	}{
		"nobody":       {given: nothing, want: nothing},
		"nobody, grpc": {given: nothing, grpc: true, want: grpc},
		"who calls":    {given: usual, want: func(c *Config) { c.Restart.Max, c.Concurrency = 9, 8 }},
		"the manifest": {manifest: said, given: usual, want: ofManifest},
		"once": {manifest: said, given: func(c *Config) { c.Once = true }, want: func(c *Config) {
			ofManifest(c)
			c.Workers, c.Restart.Policy = 1, "no"
			c.Limits.Calls, c.Limits.Age = -1, -1
		}},
		"a host": {
			manifest: settings.Settings{Host: "vault", MTLS: settings.Off}, given: nothing, grpc: true,
			want: func(c *Config) {
				grpc(c)
				c.Host, c.Cookie, c.ProtocolVersions, c.MTLS = "vault", settings.Hosts["vault"].Cookie, []int{3, 4, 5}, settings.Off
			},
		},
		"a host before the manifest": {
			manifest: settings.Settings{Cookie: "A=B", MTLS: settings.On}, given: func(c *Config) { c.Host = "nomad" }, grpc: true,
			want: func(c *Config) {
				grpc(c)
				c.Host, c.Cookie, c.ProtocolVersions, c.MTLS = "nomad", settings.Hosts["nomad"].Cookie, []int{2}, settings.Off
			},
		},
		"flags": {
			manifest: said,
			given: func(c *Config) {
				c.Workers, c.Concurrency, c.Preload = 2, 1, "auto"
				c.Restart = settings.Restart{Policy: "no", Max: settings.NoLimit, Backoff: 2 * second, BackoffMax: 3 * second, HealthyAfter: 4 * second}
				c.Limits = settings.Limits{Memory: settings.NoLimit, Calls: settings.NoLimit, Age: settings.NoLimit}
			},
			want: func(c *Config) {
				c.Workers = 2
				c.Restart = settings.Restart{Policy: "no", Max: settings.NoLimit, Backoff: 2 * second, BackoffMax: 3 * second, HealthyAfter: 4 * second}
			},
		},
		"jobs":              {given: func(c *Config) { c.Jobs = 8 }, want: func(c *Config) { c.Workers = 8 }},
		"jobs, grpc":        {given: func(c *Config) { c.Jobs = 8 }, grpc: true, want: grpc},
		"jobs, manifest":    {manifest: said, given: func(c *Config) { c.Jobs = 8 }, want: ofManifest},
		"jobs, workers":     {given: func(c *Config) { c.Jobs, c.Workers = 8, 2 }, want: func(c *Config) { c.Workers = 2 }},
		"jobs, concurrency": {given: func(c *Config) { c.Jobs, c.Concurrency = 9, 4 }, want: func(c *Config) { c.Workers, c.Concurrency = 3, 4 }},
		"jobs, threads": {
			given: func(c *Config) { c.Jobs, c.Threads = 8, settings.On },
			want:  func(c *Config) { c.Concurrency, c.Threads = 8, settings.On },
		},
		"many jobs": {given: func(c *Config) { c.Jobs = settings.MaxConcurrency }, want: func(c *Config) { c.Workers = settings.MaxWorkers }},
		"auto": {
			given: func(c *Config) { c.Workers = settings.Auto },
			want:  func(c *Config) { c.Workers = runtime.GOMAXPROCS(0) },
		},
	} {
		var given Config
		c.given(&given)
		want := Config{Settings: settings.Defaults()}
		c.want(&want)
		transport := map[bool]string{false: "pipe", true: "grpc"}[c.grpc]
		want.Transport = transport
		if got, _, err := settingsOf(given, manifest.Manifest{Settings: c.manifest}, transport); err != nil || !reflect.DeepEqual(got, want.Settings) {
			t.Errorf("%s: got\n%+v, %v, want\n%+v", name, got, err, want.Settings)
		}
	}
	var forced Config
	forced.Preload = "force"
	if _, _, err := settingsOf(forced, manifest.Manifest{}, "grpc"); err == nil || !strings.Contains(err.Error(), "preload applies only to functions files") {
		t.Errorf("got %v, want the preload refused", err)
	}
}
