package proc

import (
	"errors"
	"runtime"
	"testing"
)

func TestCheckMaxMemory(t *testing.T) {
	for limit, ok := range map[int64]bool{0: true, 1: true, -1: false} {
		err := CheckMaxMemory(limit)
		if runtime.GOOS != "linux" && limit > 0 {
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%d: got %v, want that it is not supported", limit, err)
			}
		} else if (err == nil) != ok {
			t.Errorf("%d: got %v", limit, err)
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
