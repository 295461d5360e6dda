//go:build unix

package commands_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// bareLoop answers the lines like a user's script.
const bareLoop = `
import json, sys
def f(x): return x
for n, line in enumerate(sys.stdin, 1):
    sys.stdout.write('{"id":%d,"result":%s}\n' % (n, json.dumps(f(*json.loads(line)))))
`

// BenchmarkFigureLines answers 100 000 trivial lines in each way, in alternation: the speed of the
// defaults and of two workers compared with a bare Python loop, and the speed of --fail-fast,
// --retries and call --lines compared with the defaults.
func BenchmarkFigureLines(b *testing.B) {
	python, pyplug, dir := runnertest.Python(b), binary(b), b.TempDir()
	plugin, input := filepath.Join(dir, "plugin.py"), filepath.Join(dir, "in")
	var in []byte
	for n := range 100_000 {
		in = fmt.Appendf(in, "[%d]\n", n)
	}
	for path, text := range map[string]string{plugin: "def f(x): return x\n", input: string(in)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.Setenv("PYPLUG_RUN_DIR", filepath.Join(dir, "run"))
	run := func(words ...string) time.Duration {
		lines, err := os.Open(input)
		if err != nil {
			b.Fatal(err)
		}
		defer lines.Close()
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Stdin = lines
		began := time.Now()
		if _, err := cmd.Output(); err != nil {
			b.Fatalf("%q: %v", words, err)
		}
		return time.Since(began)
	}
	run(pyplug, "start", "--python", python, "--name", "lines", plugin)
	defer run(pyplug, "stop", "lines")
	const defaults = "defaults-of-bare"
	ways := []struct {
		name, beside string
		words        []string
	}{
		{"bare", "", []string{python, "-c", bareLoop}},
		{defaults, "bare", []string{pyplug, "run", "--lines", "--python", python, plugin, "f"}},
		{"workers-2-of-bare", "bare", []string{pyplug, "run", "--lines", "--python", python, "--workers", "2", plugin, "f"}},
		{"fail-fast-of-defaults", defaults, []string{pyplug, "run", "--lines", "--python", python, "--fail-fast", plugin, "f"}},
		{"retries-of-defaults", defaults, []string{pyplug, "run", "--lines", "--python", python, "--retries", "2", plugin, "f"}},
		{"call-of-defaults", defaults, []string{pyplug, "call", "--lines", "lines", "f"}},
	}
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, way := range ways {
			took[way.name] = append(took[way.name], run(way.words...))
		}
	}
	for _, way := range ways[1:] {
		var ratios []float64 // in alternation, because a machine's speed changes every second
		for i, t := range took[way.name] {
			ratios = append(ratios, float64(took[way.beside][i])/float64(t))
		}
		slices.Sort(ratios)
		b.ReportMetric(ratios[len(ratios)/2], way.name)
	}
	b.ReportMetric(0, "ns/op")
}
