package lines

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// flaky fails with a crash as many times as the first argument of a call says, and then returns
// that number. The hook "items" emits an item before each failure.
type flaky struct {
	mu   sync.Mutex
	made map[string]int
}

func (f *flaky) Call(_ context.Context, c hook.Call) (hook.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var times int
	if _, err := fmt.Sscanf(string(c.Args.JSON), "[%d", &times); err != nil {
		return hook.Result{}, &hook.Error{Kind: hook.Failed, Err: err}
	}
	key := string(c.Args.JSON)
	if f.made[key]++; f.made[key] <= times {
		if c.Hook == "items" {
			if err := c.Emit(hook.Item{Value: []byte("0")}); err != nil {
				return hook.Result{}, hook.AsError(err)
			}
		}
		return hook.Result{}, &hook.Error{Kind: hook.Crash, Begun: true}
	}
	return valued([]byte(fmt.Sprint(times))), nil
}

func retrying(n int) func(*Options) {
	return func(o *Options) { o.Retries, o.Jobs = Retries{n, []hook.Kind{hook.Crash}}, 1 }
}

// TestRetries checks that a call is made again after a delay that doubles, that other calls are
// made meanwhile, and that the answers stay in order.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{made: map[string]int{}}
		r := start(t, f, retrying(3))
		r.feed("3", "0", "x", "9", "1")
		time.Sleep(650 * time.Millisecond) // during the third delay
		r.wants(t)
		f.mu.Lock()
		if f.made["[0]"] != 1 || f.made["[1]"] != 2 || f.made["[3]"] != 3 {
			t.Errorf("the calls made are %v", f.made)
		}
		f.mu.Unlock()
		time.Sleep(100 * time.Millisecond)
		_ = r.in.Close()
		<-r.done
		bad := `{"id":3,"error":"request: the line is not JSON: byte 1: invalid character 'x' looking for beginning of value"}`
		r.wants(t, `{"id":1,"result":3,"attempts":4}`, result(2, 0), bad, `{"id":4,"error":"crash: crash","attempts":4}`, `{"id":5,"result":1,"attempts":2}`)
	})
}

// TestRetriesStopped checks that a stop ends the delays, and that failed calls and all lines before
// them are answered.
func TestRetriesStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{made: map[string]int{}}
		r := start(t, f, retrying(9))
		r.feed("8", "0", "9", "0")
		time.Sleep(5 * time.Second)
		began := time.Now()
		close(r.stop)
		<-r.done
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v more", took)
		}
		r.wants(t, `{"id":1,"error":"crash: crash","attempts":6}`, result(2, 0), `{"id":3,"error":"crash: crash","attempts":6}`, result(4, 0))
	})
}

// TestRetriesNot checks which calls are not made again.
func TestRetriesNot(t *testing.T) {
	for name, c := range map[string]struct {
		hook   string
		change func(*Options)
		want   string
	}{
		"no retries":         {"h", func(*Options) {}, `{"id":1,"error":"crash: crash"}`},
		"another kind":       {"h", func(o *Options) { o.Retries = Retries{1, []hook.Kind{hook.Timeout}} }, `{"id":1,"error":"crash: crash"}`},
		"an item is written": {"items", retrying(1), `{"id":1,"item":0}` + "\n" + `{"id":1,"error":"crash: crash"}`},
	} {
		got, _ := answers(t, &flaky{made: map[string]int{}}, "1\n", func(o *Options) { o.Hook = c.hook; c.change(o) })
		if got != c.want+"\n" {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

// TestRetriesMany checks that each of many lines is answered once, ordered or not, while the calls
// of several jobs crash now and then.
func TestRetriesMany(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			const n = 3 * window
			var in strings.Builder
			for i := range n {
				fmt.Fprintf(&in, "[%d,%d]\n", i%3, i)
			}
			got, counts := answers(t, &flaky{made: map[string]int{}}, in.String(), func(o *Options) {
				retrying(2)(o)
				o.Hook, o.Jobs, o.Unordered = "h", 4, unordered
			})
			if lines := strings.Count(got, `"result":`); lines != n || counts.Failed > 0 || counts.Answered != n {
				t.Errorf("%d results, and %+v", lines, counts)
			}
		})
	}
}

// TestFailFast checks that the first failure stops the engine, and that the answers have no gaps.
func TestFailFast(t *testing.T) {
	for in, want := range map[string]string{
		"0\n0\n1\n0\n0\n": result(1, 0) + "\n" + result(2, 0) + "\n" + `{"id":3,"error":"crash: crash"}` + "\n",
		"0\nx\n0\n0\n":    result(1, 0) + "\n" + `{"id":2,"error":"request: the line is not JSON: byte 1: invalid character 'x' looking for beginning of value"}` + "\n",
		"0\n0\n":          result(1, 0) + "\n" + result(2, 0) + "\n",
	} {
		got, _ := answers(t, &flaky{made: map[string]int{}}, in, func(o *Options) { o.Hook, o.FailFast = "h", true })
		if got != want {
			t.Errorf("got %swant %s", got, want)
		}
	}
}
