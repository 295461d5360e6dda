package commands

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

func TestEveryKindHasACode(t *testing.T) {
	for _, k := range hook.Kinds() {
		if k == hook.Internal {
			continue
		}
		if code := exitCode(&hook.Error{Kind: k}); code == 0 || code == 125 {
			t.Errorf("%v has code %d", k, code)
		}
	}
}

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errQuiet, 0},
		{fmt.Errorf("wrapped: %w", errQuiet), 0},
		{errors.New("of no kind"), 125},
		{&hook.Error{Kind: hook.Canceled, Err: &signalError{syscall.SIGINT}}, 130},
		{&hook.Error{Kind: hook.Canceled, Err: &signalError{syscall.SIGTERM}}, 143},
		{fmt.Errorf("wrapped: %w", &hook.Error{Kind: hook.Crash}), 8},
		{&hook.Error{}, 125},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%v: got %d, want %d", c.err, got, c.want)
		}
	}
}

// TestReadmeHasTheCodes checks that the README's table has the codes of the program.
func TestReadmeHasTheCodes(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range exits {
		kind := ""
		if row.kind != "" {
			kind = fmt.Sprintf("`%v`", row.kind)
		}
		line := strings.Join(strings.Fields(fmt.Sprintf("| %d | %s | %s |", row.code, kind, row.meaning)), " ")
		found := false
		for l := range strings.Lines(string(readme)) {
			found = found || strings.Join(strings.Fields(l), " ") == line
		}
		if !found {
			t.Errorf("README.md has no line %s", line)
		}
	}
}
