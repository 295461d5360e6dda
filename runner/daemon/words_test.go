package daemon

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestTakeOver checks that the process in the background gets the flags in its environment, which
// only the same user can read, and that the plugin does not get them.
func TestTakeOver(t *testing.T) {
	want := []string{"--env=A=B c\xff,\n;&", "--workers=2"}
	name, value, _ := strings.Cut(HandOver(want), "=")
	t.Setenv(name, value)
	if got := TakeOver(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, there := os.LookupEnv(name); there {
		t.Error("the plugin would have it, too")
	}
}
