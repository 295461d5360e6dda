package commands

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner"
)

// keepOf reads keepFlags.
func keepOf(words ...string) (runner.Keep, error) {
	var cfg runner.Config
	err := setFlags(keepFlags(&cfg.Keep), words...)
	if err == nil {
		err = openConfig(&cfg, "p.py")
	}
	return cfg.Keep, err
}

func TestKeepFlags(t *testing.T) {
	for words, want := range map[string]runner.Keep{
		"":                                      {},
		"--workers 4":                           {Workers: 4},
		"--workers auto":                        {Workers: runner.AutoWorkers},
		"--concurrency 16":                      {Concurrency: 16},
		"--threads --queue 5 --queue-timeout 2": {Threads: true, Queue: 5, QueueTimeout: 2 * time.Second},
		"--queue-timeout 0 --max-age 0 --idle-time 0":        {QueueTimeout: -1, MaxAge: -1, IdleTime: -1},
		"--restart on-failure --max-restarts 3":              {Restart: "on-failure", MaxRestarts: 3},
		"--max-restarts 0 --max-calls 0 --max-memory 0 ":     {MaxRestarts: -1, MaxCalls: -1, MaxMemory: -1},
		"--backoff 100ms --backoff-max 2m --healthy-after 5": {Backoff: 100 * time.Millisecond, BackoffMax: 2 * time.Minute, HealthyAfter: 5 * time.Second},
		"--backoff 0 --healthy-after 0":                      {Backoff: 1, HealthyAfter: 1},
		"--max-memory 512MB --max-calls 100":                 {MaxMemory: 512 << 20, MaxCalls: 100},
		"--max-age 1h --idle-time 15m --preload force":       {MaxAge: time.Hour, IdleTime: 15 * time.Minute, Preload: "force"},
	} {
		if got, err := keepOf(strings.Fields(words)...); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", words, got, err, want)
		}
	}
}

func TestKeepFlagsRefuse(t *testing.T) {
	for words, want := range map[string]string{
		"--workers 0":                   `--workers is "0", want a number from 1 to 1024, or auto`,
		"--workers many":                `--workers is "many"`,
		"--workers=":                    `--workers is ""`,
		"--concurrency -1":              `--concurrency is "-1"`,
		"--queue 0":                     `--queue is "0"`,
		"--restart never":               `--restart is "never", want no, on-failure or always`,
		"--max-restarts -1":             `--max-restarts is "-1"`,
		"--max-memory much":             `--max-memory is "much", want a size`,
		"--max-memory 512":              `--max-memory is "512", want at least 1MB`,
		"--max-calls x":                 `--max-calls is "x"`,
		"--preload on":                  `--preload is "on", want off, auto or force`,
		"--backoff soon":                `--backoff is "soon", want a duration`,
		"--backoff 2m --backoff-max 1m": "--backoff-max is 1m0s, want at least the 2m0s of --backoff",
	} {
		if _, err := keepOf(strings.Fields(words)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", words, err, want)
		}
	}
}

// TestKeepEnvironment has flags come before variables.
func TestKeepEnvironment(t *testing.T) {
	for name, text := range map[string]string{
		"PYPLUG_WORKERS": "3", "PYPLUG_CONCURRENCY": "", "PYPLUG_RESTART": "no", "PYPLUG_MAX_MEMORY": "1G", "PYPLUG_PRELOAD": "off",
	} {
		t.Setenv(name, text)
	}
	want := runner.Keep{Workers: 2, Restart: "no", MaxMemory: 1 << 30, Preload: "off"}
	if got, err := keepOf("--workers", "2"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	t.Setenv("PYPLUG_RESTART", "sometimes")
	if _, err := keepOf(); err == nil || !strings.Contains(err.Error(), `"sometimes"`) {
		t.Errorf("got %v, want the value refused", err)
	}
}
