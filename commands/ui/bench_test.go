package ui

import (
	"testing"
	"time"
)

func TestBench(t *testing.T) {
	measured := BenchResult{
		Plugin: "greeter.py", Hook: "greet", Transport: "pipe", Python: "3.12.4",
		Phases: []BenchPhase{
			{Name: "cold", Rounds: 9, Jobs: 1, Min: 12_340 * time.Microsecond, P50: 15 * time.Millisecond, P90: 99_960 * time.Microsecond,
				P99: 120 * time.Millisecond, Max: 20 * time.Second, PerSecond: 22.26},
			{Name: "pipelined", Rounds: 10000, Jobs: 64, Min: 0, P50: 21_400, P90: 31_000, P99: 999_400, Max: time.Millisecond, PerSecond: 123456.7},
		},
	}
	s, out, _ := Test("")
	if err := s.Bench(measured, false); err != nil {
		t.Fatal(err)
	}
	want := `PHASE      ROUNDS      MIN      P50      P90     P99      MAX  PER SECOND
cold            9  12.3 ms  15.0 ms   100 ms  120 ms   20.0 s          22
pipelined   10000  0.00 µs  21.4 µs  31.0 µs  999 µs  1.00 ms     123 457

           1 µs    10      100     1 ms    10      100     1 s
cold                                       ━█━━━━━━━───────────────
pipelined  ━━━━━━━━━━█━━━━━━━━━━━━━─
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
	out.Reset()
	if err := s.Bench(measured, true); err != nil {
		t.Fatal(err)
	}
	want = `{"schema":1,"plugin":"greeter.py","hook":"greet","transport":"pipe","python":"3.12.4","phases":[` +
		`{"name":"cold","rounds":9,"jobs":1,"min_ms":12.34,"p50_ms":15,"p90_ms":99.96,"p99_ms":120,"max_ms":20000,"per_second":22.3},` +
		`{"name":"pipelined","rounds":10000,"jobs":64,"min_ms":0,"p50_ms":0.0214,"p90_ms":0.031,"p99_ms":0.9994,"max_ms":1,"per_second":123456.7}]}` + "\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}
