package proc

import (
	"errors"
	"runtime"
	"testing"
)

func TestLimitsCheck(t *testing.T) {
	tests := []struct {
		limits Limits
		ok     bool
	}{
		{Limits{}, true},
		{Limits{Memory: 1}, true},
		{Limits{Memory: -1}, false},
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
