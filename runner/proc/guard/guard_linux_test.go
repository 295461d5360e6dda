package guard

import (
	"os"
	"testing"
)

func TestRealTimeLimit(t *testing.T) {
	tests := []struct {
		limits string
		want   uint64
		ok     bool
	}{
		{"", 0, false},
		{"Limit  Soft Limit\nMax realtime timeout      unlimited            unlimited            us\n", 0, false},
		{"Max realtime priority     0 0\nMax realtime timeout      4611686018427387911  unlimited            us", 4611686018427387911, true},
	}
	for _, test := range tests {
		if got, ok := realTimeLimit([]byte(test.limits)); got != test.want || ok != test.ok {
			t.Errorf("%q: got %d, %v", test.limits, got, ok)
		}
	}
}

func TestMarkedOurselves(t *testing.T) {
	if Marked(os.Getpid(), NewRun(1), 0) {
		t.Error("this test carries a mark of a run that is not its own")
	}
	if zombie(os.Getpid()) || !zombie(1<<30) {
		t.Error("the living are taken for the dead, or the absent for the living")
	}
}
