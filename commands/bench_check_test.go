//go:build unix

package commands_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// compileOnly is the part that every check needs: Python compiles the source.
const compileOnly = `import sys
for name in sys.argv[1:]:
    with open(name, "rb") as file:
        compile(file.read(), name, "exec", dont_inherit=True)`

// BenchmarkFigureCheck checks a plugin without faults, and reports how much longer that takes than
// the programs that it starts: Python to compile the source, the plugin itself, and for a gRPC
// plugin the plugin again without its cookie and under a stock host. Each of these is also run
// alone, in alternation with the check.
//
//	go test -run '^$' -bench FigureCheck -benchtime 30x ./commands
func BenchmarkFigureCheck(b *testing.B) {
	pyplug := binary(b)
	b.Run("functions", func(b *testing.B) {
		python, greeter := runnertest.Python(b), plugin(b, "greeter.py")
		overhead(b, func() time.Duration {
			return timed(b, 0, pyplug, "check", "--python", python, greeter)
		}, func() time.Duration {
			return timed(b, 0, python, "-I", "-S", "-c", compileOnly, greeter) +
				timed(b, 0, python, "-c", "import sys; sys.path[0] = sys.argv[1]; import greeter", filepath.Dir(greeter))
		})
	})
	b.Run("grpc", func(b *testing.B) {
		python, good, host := runnertest.GRPCIO(b), plugin(b, "grpc/good.py"), stockHost(b)
		overhead(b, func() time.Duration {
			return timed(b, 0, pyplug, "check", "--strict", "--cookie", "ZOO_COOKIE=monkey", "--python", python, good)
		}, func() time.Duration {
			compiled := timed(b, 0, python, "-I", "-S", "-c", compileOnly, good, plugin(b, "grpc/zoo_pb2.py"))
			refused := timed(b, 1, python, good)
			b.Setenv("ZOO_COOKIE", "monkey")
			start, end := own(b, []string{python, good}, 0)
			hosted := timed(b, 0, host, "ZOO_COOKIE", "monkey", "/zoo.Zoo/Echo", "hello", python, good)
			if err := os.Unsetenv("ZOO_COOKIE"); err != nil {
				b.Fatal(err)
			}
			return compiled + refused + start + end + hosted
		})
	})
}

// overhead reports how much longer check takes than parts. Both alternate, and the result is the
// median of the differences, because the speed of a machine changes every second.
func overhead(b *testing.B, check, parts func() time.Duration) {
	check() // the first run writes the worker's files
	var checks, sums, over []time.Duration
	for b.Loop() {
		sum, whole := parts(), check()
		checks, sums, over = append(checks, whole), append(sums, sum), append(over, whole-sum)
	}
	report(b, "ms-check", median(checks))
	report(b, "ms-parts", median(sums))
	report(b, "ms-over", median(over))
	b.ReportMetric(0, "ns/op")
}

// BenchmarkFigureCheckJobs checks twenty plugins one after another and two at a
// time.
func BenchmarkFigureCheckJobs(b *testing.B) {
	pyplug, python := binary(b), runnertest.Python(b)
	text, err := os.ReadFile(plugin(b, "greeter.py"))
	if err != nil {
		b.Fatal(err)
	}
	words := []string{"check", "-q", "--python", python}
	dir := b.TempDir()
	for i := range 20 {
		name := filepath.Join(dir, fmt.Sprintf("greeter%d.py", i))
		if err := os.WriteFile(name, text, 0o600); err != nil {
			b.Fatal(err)
		}
		words = append(words, name)
	}
	var one, two []time.Duration
	for b.Loop() {
		one = append(one, timed(b, 0, pyplug, words...))
		two = append(two, timed(b, 0, pyplug, append(words, "-j2")...))
	}
	report(b, "ms-one", median(one))
	report(b, "ms-two", median(two))
	b.ReportMetric(float64(median(two))/float64(median(one)), "x-of-one")
	b.ReportMetric(0, "ns/op")
}
