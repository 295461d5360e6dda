package proc

import (
	"errors"
	"math"
	"runtime"
	"testing"
	"time"
)

func TestLimitsCheck(t *testing.T) {
	tests := []struct {
		limits Limits
		ok     bool
	}{
		{Limits{}, true},
		{Limits{Memory: 1}, true},
		{Limits{CPU: 0.01}, true},
		{Limits{CPU: 64}, true},
		{Limits{Memory: -1}, false},
		{Limits{CPU: -1}, false},
		{Limits{CPU: 0.001}, false},
		{Limits{CPU: math.NaN()}, false},
		{Limits{CPU: math.Inf(1)}, false},
	}
	for _, test := range tests {
		err := test.limits.Check()
		if runtime.GOOS != "linux" && test.ok && test.limits != (Limits{}) {
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%+v: got %v, want that it is not supported", test.limits, err)
			}
		} else if (err == nil) != test.ok {
			t.Errorf("%+v: got %v", test.limits, err)
		}
	}
}

func TestMegabytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 MB", 1 << 19: "0.5 MB", 1 << 20: "1 MB", 10<<20 - 1: "10 MB", 312<<20 + 1<<18: "312 MB", 4 << 30: "4096 MB",
	} {
		if got := megabytes(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

// TestAccount runs busy threads by the account, and holds that they get their share
// and no more, the first burst apart, that an idle process is left alone, and that
// what runs in one go, and what is waited for in one go, is bounded.
func TestAccount(t *testing.T) {
	tests := []struct {
		share   float64
		threads int
	}{{0.01, 1}, {0.1, 1}, {0.5, 1}, {0.9, 1}, {1, 2}, {1.5, 2}, {0.1, 8}, {3, 64}}
	for _, test := range tests {
		a := account{share: test.share}
		a.enter(lookEvery*time.Duration(test.threads), lookEvery)
		a.rest(longest)
		var wall, cpu time.Duration
		for run := shortest; wall < time.Minute; {
			took := run * time.Duration(test.threads)
			wall, cpu = wall+run, cpu+took
			var pause time.Duration
			if run, pause = a.enter(took, run); run < shortest || run > lookEvery || pause > longest {
				t.Fatalf("%+v: runs %v after a pause of %v", test, run, pause)
			}
			if pause > 0 {
				a.rest(pause)
				wall += pause
			}
		}
		if got := float64(cpu) / float64(wall); got < 0.9*test.share || got > 1.1*test.share {
			t.Errorf("%+v: took %.3f cores", test, got)
		}
	}
	idle := account{share: 0.5}
	for range 100 {
		if run, pause := idle.enter(time.Millisecond, lookEvery); run != lookEvery || pause != 0 {
			t.Fatalf("idle, it runs %v after a pause of %v", run, pause)
		}
	}
}
