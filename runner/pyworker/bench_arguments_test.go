//go:build linux

package pyworker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/pyworker"
)

// BenchmarkFigureArguments measures how much annotations add to a warm call. It calls hooks with
// and without annotations in turn.
func BenchmarkFigureArguments(b *testing.B) {
	const source = `
import datetime, enum
from typing import List
class Env(enum.Enum):
    PROD = "prod"
    STAGING = "staging"
def bare(env, when): return 1
def plain(env: str, when: str): return 1
def typed(env: Env, when: datetime.date): return 1
def ints(values: List[int]): return 1
def loop(values):
    for value in values:
        if type(value) is not int:
            raise TypeError
    return 1
`
	cfg := config(b, written(b, source))
	inst, err := pyworker.New(cfg).Launch(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = inst.Stop(context.Background()) })
	two := `["staging","2024-12-31"]`
	megabyte := "[[" + strings.Repeat("1234567,", 1<<17-1) + "1]]"
	calls := []struct {
		hook, args string
		rounds     int
	}{{"bare", two, rounds}, {"plain", two, rounds}, {"typed", two, rounds}, {"loop", megabyte, 10}, {"ints", megabyte, 10}}
	took := make([][]time.Duration, len(calls))
	for b.Loop() {
		for i, c := range calls {
			p50, _ := durations(b, inst, hook.Call{Hook: c.hook, Args: hook.Args{JSON: []byte(c.args)}}, c.rounds)
			took[i] = append(took[i], p50)
		}
	}
	of := func(i int) time.Duration { return middle(took[i]) }
	b.ReportMetric(float64(of(0).Nanoseconds())/1000, "µs-bare")
	b.ReportMetric(float64((of(1)-of(0)).Nanoseconds())/1000, "µs-more-plain")
	b.ReportMetric(float64((of(2)-of(0)).Nanoseconds())/1000, "µs-more-enum-and-date")
	b.ReportMetric(float64(of(4))/float64(of(3)), "x-of-a-loop-over-1MB")
	b.ReportMetric(0, "ns/op")
}
