//go:build linux

package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestBenchSignals has bench interrupted in its second phase: it says so as run
// does, after what the first one told.
func TestBenchSignals(t *testing.T) {
	t.Parallel()
	const plugin = `
import time
calls = 0
def stuck(marker: str):
    global calls
    calls += 1
    if calls == 2:
        open(marker, "w").close()
        time.sleep(3600)
`
	path := filepath.Join(t.TempDir(), "stuck.py")
	if err := os.WriteFile(path, []byte(plugin), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		signal syscall.Signal
		code   int
		words  []string
		out    []string // in this order
		err    string
	}{
		"interrupt": {syscall.SIGINT, 130, nil, []string{"PHASE ", "\ncold "}, "error: stuck: interrupted\n"},
		"terminate": {syscall.SIGTERM, 143, []string{"--json"},
			[]string{`"phases":[{"name":"cold",`, "}]}\n" + `{"schema":1,"error":{"kind":"canceled","message":"terminated","hook":"stuck"`}, ""},
		"in the first phase": {syscall.SIGINT, 130, []string{"--json", "--skip", "cold"}, []string{`{"schema":1,"error":{"kind":"canceled",`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words := append([]string{"bench", "--rounds", "5"}, c.words...)
			s := pyplug(t, nil, append(words, path, "stuck", "marker=MARKER")...)
			s.start(t)
			if err := s.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			s.ends(t, c.code)
			rest := s.out.String()
			for _, want := range c.out {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("standard output has no %q after what comes before it", want)
				}
				rest = after
			}
			if got := s.errs.String(); !strings.HasPrefix(got, c.err) || c.err == "" && got != "" {
				t.Errorf("standard error is %q, want %q in it", got, c.err)
			}
		})
	}
}
