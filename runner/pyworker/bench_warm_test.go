//go:build linux

package pyworker_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/pyworker"
)

// The benchmarks of warm calls also measure, in turn, a ping-pong of one byte through two
// pipes between two C programs. No call can be faster. On one core the figures are the cost
// of a call. On several cores both figures include the time to wake another core.
//
//	taskset -c 1 go test -run '^$' -bench Warm -benchtime 20x ./runner/pyworker

// rounds is the number of calls, or round trips, in a row.
const rounds = 2000

// pingPong is a C program that prints the median time of a number of round trips, in
// nanoseconds.
const pingPong = `
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int order(const void *a, const void *b) {
	long x = *(const long *)a, y = *(const long *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv) {
	int n = atoi(argv[1]), there[2], back[2];
	long *took = calloc(n, sizeof *took);
	char c = 0;
	if (pipe(there) || pipe(back)) return 1;
	if (fork() == 0) {
		close(there[1]);
		while (read(there[0], &c, 1) == 1)
			if (write(back[1], &c, 1) != 1) return 1;
		return 0;
	}
	for (int i = 0; i < n; i++) {
		struct timespec a, b;
		clock_gettime(CLOCK_MONOTONIC, &a);
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1) return 1;
		clock_gettime(CLOCK_MONOTONIC, &b);
		took[i] = (b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec;
	}
	qsort(took, n, sizeof *took, order);
	printf("%ld\n", took[n / 2]);
	return 0;
}
`

// buildPingPong compiles the baseline.
func buildPingPong(b *testing.B) string {
	b.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		b.Skip("no gcc: there is nothing to compare with")
	}
	source := filepath.Join(b.TempDir(), "pingpong.c")
	if err := os.WriteFile(source, []byte(pingPong), 0o600); err != nil {
		b.Fatal(err)
	}
	program := strings.TrimSuffix(source, ".c")
	if out, err := exec.Command(gcc, "-O2", "-o", program, source).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return program
}

// floor returns the median time of the baseline's round trips.
func floor(b *testing.B, program string) time.Duration {
	b.Helper()
	out, err := exec.Command(program, strconv.Itoa(rounds)).Output()
	if err != nil {
		b.Fatal(err)
	}
	nanoseconds, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(nanoseconds)
}

// warm starts a worker of the conformance plugin.
func warm(b *testing.B, change func(*pyworker.Config)) hook.Instance {
	b.Helper()
	cfg := config(b, zoo(b, "conformance.py"))
	if change != nil {
		change(&cfg)
	}
	inst, err := pyworker.New(cfg).Launch(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = inst.Stop(context.Background()) })
	return inst
}

// durations makes calls in a row, and returns the median and the sum of their durations.
func durations(b *testing.B, inst hook.Instance, c hook.Call, n int) (p50, all time.Duration) {
	b.Helper()
	ctx := b.Context()
	took := make([]time.Duration, n)
	began := time.Now()
	for i := range took {
		one := time.Now()
		if _, err := inst.Call(ctx, c); err != nil {
			b.Fatal(err)
		}
		took[i] = time.Since(one)
	}
	all = time.Since(began)
	return middle(took), all
}

func middle[T int | float64 | time.Duration](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}

func BenchmarkWarmCall(b *testing.B) {
	program, inst := buildPingPong(b), warm(b, nil)
	c := hook.Call{Hook: "echo", Args: hook.Args{JSON: []byte(`["Hello"]`)}}
	durations(b, inst, c, rounds)
	var calls, floors []time.Duration
	var rates []float64
	for b.Loop() {
		floors = append(floors, floor(b, program))
		p50, all := durations(b, inst, c, rounds)
		calls = append(calls, p50)
		rates = append(rates, rounds/all.Seconds())
	}
	call, ping := middle(calls), middle(floors)
	b.ReportMetric(float64(call.Nanoseconds())/1000, "µs-p50")
	b.ReportMetric(float64(ping.Nanoseconds())/1000, "µs-ping-pong")
	b.ReportMetric(float64(call)/float64(ping), "x-of-ping-pong")
	b.ReportMetric(middle(rates), "calls/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkWarmPipelined measures the calls of many concurrent callers.
func BenchmarkWarmPipelined(b *testing.B) {
	for _, callers := range []int{8, 64} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			inst := warm(b, func(cfg *pyworker.Config) { cfg.Concurrency = callers })
			c := hook.Call{Hook: "echo", Args: hook.Args{JSON: []byte(`["Hello"]`)}}
			var rates []float64
			for b.Loop() {
				began := time.Now()
				var all sync.WaitGroup
				for range callers {
					all.Go(func() {
						for range 10 * rounds / callers {
							if _, err := inst.Call(b.Context(), c); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				rates = append(rates, 10*rounds/time.Since(began).Seconds())
			}
			b.ReportMetric(middle(rates), "calls/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkWarmMegabyte measures a call that sends and returns 1 MB.
func BenchmarkWarmMegabyte(b *testing.B) {
	inst := warm(b, nil)
	c := encode(b, "echo", []string{strings.Repeat("0123456789abcdef", 1<<16)})
	var all []time.Duration
	for b.Loop() {
		p50, _ := durations(b, inst, c, 20)
		all = append(all, p50)
	}
	b.ReportMetric(float64(middle(all).Microseconds())/1000, "ms-p50")
	b.ReportMetric(0, "ns/op")
}
