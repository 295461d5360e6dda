package schema

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestCompleteChoices checks that a choice is offered unchanged, but only if it is visible and is
// read as the same value.
func TestCompleteChoices(t *testing.T) {
	var choices []json.RawMessage
	for _, text := range []string{"$(touch x) 'y", "a=b", "a b=c", "=text", "data:=1", "data@=x", "--x", "--", "-1", ":files", "x\ny", "x\ty", "\x1b[31mred", "a\u202eb", "é"} {
		value, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		choices = append(choices, value)
	}
	h := Hook{Params: []Param{{Name: "kind", Kind: Ordinary, Type: "str", Choices: choices}}}
	offered := func(before []string, last string) []string {
		return slices.DeleteFunc(h.Complete(before, last), func(line string) bool { return line == "" })
	}
	plain := []string{"$(touch x) 'y", "a b=c", "-1", "é"}
	if got, want := offered(nil, ""), slices.Concat([]string{"--kind\tstr"}, plain, []string{AnyFile}); !slices.Equal(got, want) {
		t.Errorf("a position: got %q, want %q", got, want)
	}
	named := []string{"$(touch x) 'y", "a=b", "a b=c", "=text", "data:=1", "data@=x", "--x", "--", "-1", "é"}
	if got := offered([]string{"--kind"}, ""); !slices.Equal(got, named) {
		t.Errorf("the value of an option: got %q, want %q", got, named)
	}
	for _, word := range named {
		if got := offered(nil, "kind="+word); !slices.Contains(got, "kind="+word) {
			t.Errorf("kind=%s: got %q", word, got)
		}
	}
}

// TestCandidate checks that a candidate is one line, and that no character in it acts on a
// terminal.
func TestCandidate(t *testing.T) {
	for _, c := range [][3]string{
		{"a b", "Two\nlines,\ta tab", "a b\tTwo lines, a tab"}, {"a", "", "a"}, {"a", "\x1b\u202e", "a"}, {"a\nb", "x", ""}, {"a\x00", "", ""},
		{"\xff", "", ""}, {AnyFile, "x", ""}, {":filesystem", "", ":filesystem"},
	} {
		if got := Candidate(c[0], c[1]); got != c[2] {
			t.Errorf("Candidate(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
