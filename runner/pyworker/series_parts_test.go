package pyworker_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// laterParts are the frames of workers in a series of three parts of two calls. A worker receives
// the second part before it answers the first one, and the third part before it answers the second
// one. want has the outcomes. Calls without an outcome have not begun.
var laterParts = map[string]struct {
	frames [][]byte
	want   []string
	lives  bool
}{
	"all is answered": {[][]byte{packed('R', 3, "3"), packed('R', 4, "4"), packed('R', 5, "5"), packed('R', 6, "6")},
		[]string{"1", "2", "3", "4", "5", "6"}, true},
	"a crash in the second part":    {[][]byte{packed('R', 3, "3")}, []string{"1", "2", "3", "crash true"}, false},
	"a crash in the third part":     {[][]byte{packed('R', 3, "3"), packed('R', 4, "4")}, []string{"1", "2", "3", "4", "crash true"}, false},
	"a refusal in the second part":  {[][]byte{packed('R', 3, "3"), packed('N', 4, ""), packed('N', 5, ""), packed('N', 6, "")}, []string{"1", "2", "3"}, true},
	"a refusal between the parts":   {[][]byte{packed('R', 3, "3"), packed('R', 4, "4"), packed('N', 5, ""), packed('N', 6, "")}, []string{"1", "2", "3", "4"}, true},
	"an answer for an unsent call":  {[][]byte{packed('R', 3, "3"), packed('R', 7, "7")}, []string{"1", "2", "3", "crash true"}, false},
	"an answer for a refused call":  {[][]byte{packed('N', 4, ""), packed('R', 3, "3"), packed('R', 4, "4")}, []string{"1", "2", "3"}, false},
	"a refusal of an answered call": {[][]byte{packed('R', 3, "3"), packed('N', 2, ""), packed('R', 4, "4"), packed('N', 5, "")}, []string{"1", "2", "3", "4"}, true},
}

// pretendLaterParts acts as such a worker. If lives is set, it answers one more call before it
// exits.
func pretendLaterParts(frames [][]byte, lives bool) {
	r := bufio.NewReader(os.Stdin)
	numbers := uint32(0)
	read := func(kinds string) bool {
		for _, want := range kinds {
			kind, number, err := readCommand(r)
			if kind == 'B' { // the frame announces the first series
				kind, number, err = readCommand(r)
			}
			if want == 'L' {
				continue
			}
			if numbers++; err != nil || rune(kind) != want || number != numbers {
				return false
			}
		}
		return true
	}
	write := func(frames ...[]byte) bool {
		_, err := os.Stdout.Write(slices.Concat(frames...))
		return err == nil
	}
	_ = read("L") &&
		write(packed('H', 0, `{"python":"3.12.4","implementation":"cpython","pid":1}`), packed('Y', 0, `{"module":"fake"}`)) &&
		read("CAAA") && write(packed('R', 1, "1"), packed('R', 2, "2")) &&
		read("AA") && write(frames...) &&
		lives &&
		read("C") && write(packed('R', 7, "7"))
}

// TestSeriesParts checks that the next part of a series is sent before the last one is answered.
// Whatever happens in the next part, only the first unanswered call may have begun.
func TestSeriesParts(t *testing.T) {
	runnertest.NothingLeft(t)
	for name, test := range laterParts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inst := launchFake(t, name, 0)
			t.Cleanup(func() { _ = inst.Stop(context.Background()) })
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var got []string
			asked := 0
			s := &hook.Series{Calls: make([]hook.Call, 2)}
			s.More = func(int) []hook.Call {
				if asked++; asked > 2 {
					return nil
				}
				return make([]hook.Call, 2)
			}
			s.Answered = func(r hook.Result, err *hook.Error) {
				if err != nil {
					got = append(got, fmt.Sprint(err.Kind, " ", err.Begun))
				} else {
					got = append(got, string(r.Value))
				}
			}
			inst.CallSeries(ctx, s)
			if !slices.Equal(got, test.want) || len(s.Calls) != 6-len(got) {
				t.Errorf("got %q, and %d calls are left; want %q", got, len(s.Calls), test.want)
			}
			if test.lives {
				answers(t, inst, hook.Call{}, "7")
			}
		})
	}
}
