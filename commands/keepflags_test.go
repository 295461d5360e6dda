package commands

import (
	"reflect"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/settings"
)

// keepOf reads the flags of plugins that are kept alive.
func keepOf(words ...string) (settings.Settings, error) {
	var cfg plan.Config
	err := setFlags(settingFlags(&cfg, settings.Keep), words...)
	if err == nil {
		err = openConfig(&cfg, "p.py")
	}
	return cfg.Settings, err
}

func TestKeepFlags(t *testing.T) {
	for words, want := range map[string]settings.Settings{
		"":                                      {},
		"--workers 4":                           {Workers: 4},
		"--workers auto":                        {Workers: settings.Auto},
		"--concurrency 16":                      {Concurrency: 16},
		"--threads --queue 5":                   {Threads: settings.On, Queue: 5},
		"--threads=false":                       {Threads: settings.Off},
		"--restart on-failure --max-restarts 3": {Restart: settings.Restart{Policy: "on-failure", Max: 3}},
		"--max-restarts 0 --max-calls 0 --max-memory 0 ": {Restart: settings.Restart{Max: settings.NoLimit},
			Limits: settings.Limits{Calls: settings.NoLimit, Memory: settings.NoLimit}},
		"--max-memory 512MB --max-calls 100": {Limits: settings.Limits{Memory: 512 << 20, Calls: 100}},
		"--preload force":                    {Preload: "force"},
	} {
		if got, err := keepOf(strings.Fields(words)...); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", words, got, err, want)
		}
	}
}

func TestKeepFlagsRefuse(t *testing.T) {
	for words, want := range map[string]string{
		"--workers 0":       `--workers is "0", expected a number from 1 to 1024, or auto`,
		"--workers many":    `--workers is "many"`,
		"--workers=":        `--workers is ""`,
		"--concurrency -1":  `--concurrency is "-1"`,
		"--queue 0":         `--queue is "0"`,
		"--restart never":   `--restart is "never", expected no, on-failure or always`,
		"--max-restarts -1": `--max-restarts is "-1"`,
		"--max-memory much": `--max-memory is "much", expected a size`,
		"--max-memory 512":  `--max-memory is "512", expected a size such as 512MB, at least 1MB, 0 for no limit`,
		"--max-calls x":     `--max-calls is "x"`,
		"--preload on":      `--preload is "on", expected off, auto or force`,
	} {
		if _, err := keepOf(strings.Fields(words)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", words, err, want)
		}
	}
}

// TestKeepEnvironment checks that flags take precedence over variables.
func TestKeepEnvironment(t *testing.T) {
	for name, text := range map[string]string{
		"PYPLUG_WORKERS": "3", "PYPLUG_CONCURRENCY": "", "PYPLUG_RESTART": "no", "PYPLUG_MAX_MEMORY": "1G", "PYPLUG_PRELOAD": "off",
	} {
		t.Setenv(name, text)
	}
	want := settings.Settings{Preload: "off", Workers: 2, Restart: settings.Restart{Policy: "no"}, Limits: settings.Limits{Memory: 1 << 30}}
	if got, err := keepOf("--workers", "2"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	t.Setenv("PYPLUG_RESTART", "sometimes")
	if _, err := keepOf(); err == nil || !strings.Contains(err.Error(), `"sometimes"`) {
		t.Errorf("got %v, want the value refused", err)
	}
}
