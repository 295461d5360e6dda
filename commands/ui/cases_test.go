package ui

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/cases"
)

// TestLongValues checks that the report of two long values shows where they differ.
func TestLongValues(t *testing.T) {
	long := strings.Repeat("é", 9999)
	for _, c := range [][2]string{{`"` + long + `a` + long + `"`, `"` + long + `b"`}, {`"` + long + `"`, `"` + long + `éé"`}, {`"a` + long + `"`, `"b"`}} {
		s, out, _ := testStreams("")
		r := &cases.Result{Case: &cases.Case{}, Status: cases.Failed, Failure: &cases.Failure{Differences: []cases.Difference{{Wanted: json.RawMessage(c[0]), Got: json.RawMessage(c[1])}}}}
		if err := s.Tests(false, false, false).Case(r, false)(); err != nil {
			t.Fatal(err)
		}
		_, wanted, _ := strings.Cut(out.String(), "wanted: ")
		wanted, got, ok := strings.Cut(wanted, "\n  got:    ")
		if !ok || wanted == strings.TrimSuffix(got, "\n") || out.Len() > 1200 || strings.ContainsRune(out.String(), '\ufffd') {
			t.Errorf("got\n%s", out)
		}
	}
}
