package guard

import (
	"strings"
	"testing"
)

func TestElement(t *testing.T) {
	run := NewRun(0xab)
	if got := run.Element(12); got != "00000000000000ab.0000000c" {
		t.Errorf("got %s", got)
	}
	if len(NewRun(1<<64-1).Element(1<<32-1)) != len(run.Element(0)) {
		t.Error("elements differ in length")
	}
}

func TestContains(t *testing.T) {
	part := NewRun(0xab).Prefix()
	for text, want := range map[string]bool{
		"": false, part: true, "A=1\x00PYPLUG_RUN=" + NewRun(0xab).Element(1) + "\x00B=2": true,
		"PYPLUG_RUN=" + NewRun(0xac).Element(1) + ":" + NewRun(0xab).Element(2): true,
		"PYPLUG_RUN=" + NewRun(0xac).Element(1):                                 false,
		part[:len(part)-1]:                                                      false,
	} {
		if got := contains([]byte(text), part); got != want || got != strings.Contains(text, part) {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "47": 47, "self": 0, "4x": 0, "": 0, "99999999999999999999": 0} {
		if got := number(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}
