package grpcplugin

import (
	"strings"
	"testing"
)

// TestLastTraceback checks a message with indented lines, as in protobuf's error about old
// generated code.
func TestLastTraceback(t *testing.T) {
	text := "noise\nTraceback (most recent call last):\n  File \"/p/a.py\", line 3, in <module>\n    import b\n  File \"/p/b.py\", line 1, in f\n" +
		"    g(\n    ^^\nTypeError: not so\nPerhaps\n 1. this\n\nor that\n\n"
	r := lastTraceback(strings.Split(text, "\n"))
	if r == nil || r.Type != "TypeError" || r.Message != "not so\nPerhaps\n 1. this\n\nor that" || len(r.Frames) != 2 || r.Frames[1].Text != "g(" {
		t.Errorf("%+v", r)
	}
	for _, text := range []string{"", "some\n text\n", "  File \"/p/a.py\", line 3, in f\n    g()"} {
		if r := lastTraceback(strings.Split(text, "\n")); r != nil {
			t.Errorf("%q: %+v", text, r)
		}
	}
}
