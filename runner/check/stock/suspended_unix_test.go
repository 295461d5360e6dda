//go:build unix

package stock_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/check/stock"
	"github.com/pyplug/pyplug/runner/runnertest"
)

func init() {
	behaviors["suspends its host"] = func() {
		if err := syscall.Kill(os.Getppid(), syscall.SIGSTOP); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		hang()
	}
}

// TestSuspended checks that Run also ends a host that is suspended and so cannot enforce its own
// limits.
func TestSuspended(t *testing.T) {
	runnertest.NothingLeft(t)
	r := fake(t, "suspends its host")
	r.Spec.Limit, r.Spec.StartTimeout = 100*time.Millisecond, time.Second
	if o := run(t, r); o.Hung != stock.StepStart || o.Crashed != "" || len(o.Steps) > 0 {
		t.Errorf("got %+v", o)
	}
}
