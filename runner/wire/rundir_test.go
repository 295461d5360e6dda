package wire

import (
	"strings"
	"testing"
)

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"p": true, "0": true, "resize-2_x": true, "a-": true, strings.Repeat("x", 300): true,
		"": false, "-a": false, "_a": false, "A": false, "a.py": false, "a/b": false, "ü": false, "a b": false, "a\x00": false,
	} {
		if got := ValidName(name); got != want {
			t.Errorf("%.40q: %v", name, got)
		}
	}
}

func TestSocketPath(t *testing.T) {
	if path, ok := SocketPath("/d", strings.Repeat("x", MaxSocket-len("/d/.sock"))); !ok || len(path) != MaxSocket {
		t.Errorf("%q, %v", path, ok)
	}
	if path, ok := SocketPath("/d", strings.Repeat("x", MaxSocket-len("/d/.sock")+1)); ok {
		t.Errorf("%q", path)
	}
}
