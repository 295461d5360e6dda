package schema

import (
	"path/filepath"
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 20 * time.Microsecond: "20µs", 21_449: "21.4µs", 999 * time.Millisecond: "999ms", 2129 * time.Millisecond: "2.13s",
		59990 * time.Millisecond: "1m0s", 200_400 * time.Millisecond: "3m20s", 90 * time.Minute: "1h30m0s",
	} {
		if got := Span(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "2m": 2 * time.Minute, "5": 5 * time.Second,
		"0.5": 500 * time.Millisecond, "0": 0, "0.0": 0, "0e9": 0, "0s": 0, "1h30m": 90 * time.Minute,
		"1e-12": 1, "1E-400": 1, "0.1ns": 1,
	} {
		if d, ok := ParseDuration(text); !ok || d != want {
			t.Errorf("%s: got %v, %v; want %v", text, d, ok, want)
		}
	}
	for _, text := range []string{"", "x", "-5", "-1s", "5 s", "NaN", "Inf", "1e300", "2000000h"} {
		if d, ok := ParseDuration(text); ok {
			t.Errorf("%q became %v, want an error", text, d)
		}
	}
}

func TestRelative(t *testing.T) {
	for _, c := range []struct {
		path string
		dirs []string
		want string
	}{
		{"/a/b/c", []string{"", "/x", "/a", "/a/b"}, "b/c"},
		{"/a", []string{"/a"}, "."},
		{"/ab", []string{"/a"}, "/ab"},
		{"/a/../x", []string{"/a"}, "/a/../x"},
		{"b", []string{"/a"}, "b"},
		{"/a", nil, "/a"},
	} {
		if got := Relative(c.path, c.dirs...); filepath.ToSlash(got) != c.want {
			t.Errorf("%s in %q: got %s, want %s", c.path, c.dirs, got, c.want)
		}
	}
}
