//go:build linux

package commands_test

import (
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
)

// TestLinesNoGaps checks that, even after a signal and with some slow workers, every line before an
// answered line is answered. With --raw, a gap would make a result seem to belong to another line.
func TestLinesNoGaps(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		signal, code, n := syscall.SIGINT, 130, 100+50*i
		if i%2 == 1 {
			signal, code = syscall.SIGTERM, 143
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			l := linesOf(t, "--workers", fmt.Sprint(2+i/2), "--raw", "testdata/plugins/uneven.py", "same")
			go func() { // ends with pyplug
				for n := 1; ; n++ {
					if _, err := fmt.Fprintf(l.in, "[%d]\n", n); err != nil {
						return
					}
				}
			}()
			for n := range n {
				l.hears(t, fmt.Sprintf("%d\n", n+1))
			}
			if err := l.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(l.out)
			if err != nil {
				t.Error(err)
			}
			for line := range strings.Lines(string(rest)) {
				if n++; line != fmt.Sprintf("%d\n", n) {
					t.Errorf("after the signal the answer to line %d is %q", n, line)
					break
				}
			}
			l.ends(t, code)
			if want := fmt.Sprintf("; lines 1 to %d are answered; use --record FILE to go on from there next time\n", n); !strings.HasSuffix(l.errs.String(), want) {
				t.Errorf("standard error is %q, want %q at its end", &l.errs, want)
			}
		})
	}
}
