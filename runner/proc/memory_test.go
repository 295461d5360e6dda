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
