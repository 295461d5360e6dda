package guard

import "testing"

func TestRun(t *testing.T) {
	for _, random := range []uint64{0, 1, 0xabc, 1<<38 - 1, 1<<64 - 1} {
		run := NewRun(random)
		back, ok := parseRun(run.String())
		if !ok || back != run || len(run.String()) != 10 {
			t.Errorf("%d: %s is read as %d, %v", random, run, back, ok)
		}
	}
	for _, bad := range []string{"", "1", "00000000zz", "00000000000"} {
		if _, ok := parseRun(bad); ok {
			t.Errorf("%q is taken for a run", bad)
		}
	}
}

func TestInEnviron(t *testing.T) {
	run := Run(0xab)
	tests := []struct {
		environ string
		n       uint32
		want    bool
	}{
		{"", 0, false},
		{"A=1\x00PYPLUG_RUN=00000000ab.12\x00B=2\x00", 0, true},
		{"PYPLUG_RUN=00000000ab.12", 12, true},
		{"PYPLUG_RUN=00000000ab.12\x00", 1, false},
		{"PYPLUG_RUN=00000000ac.1:00000000ab.12:00000000ad.3\x00", 12, true},
		{"PYPLUG_RUN=00000000ac.1:00000000ab.12:00000000ad.3\x00", 0, true},
		{"PYPLUG_RUN=00000000ac.1\x00", 0, false},
		{"PYPLUG_RUN=00000000ab\x00", 0, false},
		{"XPYPLUG_RUN=00000000ab.1\x00", 0, false},
		{"PYPLUG_RUNS=00000000ab.1\x00", 0, false},
		{"PYPLUG_RUN=\x00", 0, false},
	}
	for _, test := range tests {
		if got := run.inEnviron([]byte(test.environ), test.n); got != test.want {
			t.Errorf("%q, %d: got %v", test.environ, test.n, got)
		}
	}
}

func TestInLimit(t *testing.T) {
	run := NewRun(1<<38 - 1)
	limit := run.Limit(7)
	if !run.inLimit(limit, 7) || !run.inLimit(limit, 0) || run.inLimit(limit, 8) || Run(1).inLimit(limit, 0) {
		t.Errorf("limit %x is not told apart", limit)
	}
	if run.inLimit(1<<64-1, 0) || limit >= 1<<63 {
		t.Errorf("limit %x is unlimited", limit)
	}
}
