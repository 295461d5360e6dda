package commands

import (
	"reflect"
	"strings"
	"testing"

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
	for words, set := range map[string]func(k *runner.Keep){
		"":                                      func(k *runner.Keep) {},
		"--workers 4":                           func(k *runner.Keep) { k.Workers = 4 },
		"--workers auto":                        func(k *runner.Keep) { k.Workers = runner.AutoWorkers },
		"--concurrency 16":                      func(k *runner.Keep) { k.Concurrency = 16 },
		"--threads --queue 5":                   func(k *runner.Keep) { k.Threads = true; k.Queue = 5 },
		"--restart on-failure --max-restarts 3": func(k *runner.Keep) { k.Restart = "on-failure"; k.MaxFailures = 3 },
		"--max-restarts 0 --max-calls 0 --max-memory 0 ": func(k *runner.Keep) { k.MaxFailures = -1; k.MaxCalls = -1; k.MaxMemory = -1 },
		"--max-memory 512MB --max-calls 100":             func(k *runner.Keep) { k.MaxMemory = 512 << 20; k.MaxCalls = 100 },
		"--preload force":                                func(k *runner.Keep) { k.Preload = "force" },
	} {
		var want runner.Keep
		set(&want)
		if got, err := keepOf(strings.Fields(words)...); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", words, got, err, want)
		}
	}
}

func TestKeepFlagsRefuse(t *testing.T) {
	for words, want := range map[string]string{
		"--workers 0":       `--workers is "0", want a number from 1 to 1024, or auto`,
		"--workers many":    `--workers is "many"`,
		"--workers=":        `--workers is ""`,
		"--concurrency -1":  `--concurrency is "-1"`,
		"--queue 0":         `--queue is "0"`,
		"--restart never":   `--restart is "never", want no, on-failure or always`,
		"--max-restarts -1": `--max-restarts is "-1"`,
		"--max-memory much": `--max-memory is "much", want a size`,
		"--max-memory 512":  `--max-memory is "512", want a size such as 512MB, at least 1048576 bytes`,
		"--max-calls x":     `--max-calls is "x"`,
		"--preload on":      `--preload is "on", want off, auto or force`,
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
	want := runner.Keep{Preload: "off"}
	want.Workers, want.Restart, want.MaxMemory = 2, "no", 1<<30
	if got, err := keepOf("--workers", "2"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	t.Setenv("PYPLUG_RESTART", "sometimes")
	if _, err := keepOf(); err == nil || !strings.Contains(err.Error(), `"sometimes"`) {
		t.Errorf("got %v, want the value refused", err)
	}
}
