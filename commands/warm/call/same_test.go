//go:build linux || darwin

package call

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/commands/warm/warmtest"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// hooks is a plugin that counts its calls in a file.
const hooks = `
import os, time

def _count(file):
    with open(file, "a") as f:
        f.write("x")

def greet(file, name="World", n: int = 1):
    _count(file)
    return f"Hëllo, {name}" * n

def slow(file, seconds: float):
    _count(file)
    time.sleep(seconds)
    return {"slow": seconds}

def fail(file):
    _count(file)
    raise ValueError("no")

def items(file, n: int):
    _count(file)
    for i in range(n):
        yield {"item": i, "text": "line\nof\x7fit"}

def data(file):
    _count(file)
    return b"\x00hi"

def nothing(file):
    _count(file)

def leave(file):
    _count(file)
    os._exit(7)
`

// life is how long a process lived, which is never the same.
var life = regexp.MustCompile(` after [0-9.]+ m?s`)

// TestCallSame holds that a background plugin's hook gives the same in the warm
// way and in the ordinary one, to which a variable of ours leads, and is called
// once in either: also where the warm way has sent the call and leaves the rest.
func TestCallSame(t *testing.T) {
	runnertest.NothingLeft(t)
	python := runnertest.Python(t)
	dir, err := os.MkdirTemp("/tmp", "warm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	plugin, count := filepath.Join(dir, "hooks.py"), filepath.Join(dir, "count")
	if err := os.WriteFile(plugin, []byte(hooks), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"PYPLUG_RUN_DIR=" + filepath.Join(dir, "run"), "XDG_CACHE_HOME=" + dir}
	if got := warmtest.Run(t, env, "start", "--name", "p", "--python", python, plugin); got.Code != 0 {
		t.Fatalf("%+v", got)
	}
	t.Cleanup(func() {
		if got := warmtest.Run(t, env, "stop", "p"); got.Code != 0 {
			t.Errorf("%+v", got)
		}
	})
	for line, code := range map[string]int{
		"greet $":                  0,
		"greet $ Ada":              0,
		"greet $ name=Ada n=2":     0,
		"greet $ =Ada :=2":         0,
		"greet $ Ada 100000":       0,
		"greet $ Ada 400000":       0, // too long for the warm way
		"slow $ 0.4":               0, // and too late
		"items $ 3":                0,
		"items $ 0":                0,
		"data $":                   0,
		"nothing $":                0,
		"fail $":                   1,
		"greet $ Ada two":          4,
		"greet $ nobody=Ada":       4,
		"greet $ :=nonsense":       4,
		"gret $":                   4,
		"leave $":                  8,
		"greet $ Bob n:=1 extra=2": 4,
	} {
		t.Run(line, func(t *testing.T) {
			args := append([]string{"call", "p"}, strings.Split(strings.ReplaceAll(line, "$", "="+count), " ")...)
			calls := func() int {
				text, _ := os.ReadFile(count)
				os.Remove(count)
				return len(text)
			}
			got := warmtest.Run(t, env, args...)
			n := calls()
			want := warmtest.Run(t, append(env, "PYPLUG_COLOR=never"), args...)
			got.Stderr, want.Stderr = life.ReplaceAllString(got.Stderr, ""), life.ReplaceAllString(want.Stderr, "")
			if got != want || got.Code != code {
				t.Errorf("%d %.200q\n%s\nwant\n%d %.200q\n%s", got.Code, got.Stdout, got.Stderr, want.Code, want.Stdout, want.Stderr)
			}
			if m := calls(); n != m || n > 1 || n == 0 && code != 4 {
				t.Errorf("called %d times, and %d times in the ordinary way", n, m)
			}
		})
	}
}
