package lines

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// endless is a reader of n equal lines.
type endless struct {
	line string
	n    int
	rest string
}

func (e *endless) Read(b []byte) (int, error) {
	total := 0
	for total < len(b) {
		if e.rest == "" {
			if e.n == 0 {
				if total == 0 {
					return 0, io.EOF
				}
				return total, nil
			}
			e.n--
			e.rest = e.line
		}
		n := copy(b[total:], e.rest)
		e.rest = e.rest[n:]
		total += n
	}
	return total, nil
}

// BenchmarkLines answers lines with calls that do nothing. Each iteration is one line.
func BenchmarkLines(b *testing.B) {
	line := `{"id": "a-1", "hook": "resize", "args": {"name": "image.png", "width": 640, "height": 480}}` + "\n"
	nothing := callerFunc(func(context.Context, hook.Call) (hook.Result, error) {
		return hook.Result{Item: hook.Item{Value: []byte(`{"ok":true}`)}}, nil
	})
	for _, jobs := range []int{1, 8} {
		for _, limit := range []time.Duration{0, time.Minute} {
			b.Run(fmt.Sprintf("jobs=%d/limit=%v", jobs, limit), func(b *testing.B) {
				b.ReportAllocs()
				o := options(&endless{line: line, n: b.N}, io.Discard)
				o.Jobs, o.Timeout = jobs, limit
				if err := New(nothing, o).Run(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
			})
		}
	}
}
