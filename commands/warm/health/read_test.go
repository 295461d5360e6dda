//go:build linux || darwin

package health

import (
	"os"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/commands/warm/warmtest"
)

func TestMain(m *testing.M) { os.Exit(warmtest.Main(m)) }

func TestReadHealth(t *testing.T) {
	for line, want := range map[string]health{
		"--address a:1":                          {address: "a:1"},
		"--address=a:1":                          {address: "a:1"},
		"-address a:1":                           {address: "a:1"},
		"-address=a:1":                           {address: "a:1"},
		"--addr a:1":                             {address: "a:1"},
		"-addr=a:1":                              {address: "a:1"},
		"--address a:1 --service s":              {"a:1", "s"},
		"--service=s=t -addr a:1":                {"a:1", "s=t"},
		"--service= --addr a:1":                  {address: "a:1"},
		"--probe-codes --addr a:1":               {address: "a:1"},
		"--addr a:1 -probe-codes --service x":    {"a:1", "x"},
		"--service --address --addr a:1":         {"a:1", "--address"}, // a value may look like a flag
		"--addr --service --service --address":   {"--service", "--address"},
		"--addr a:1 --service " + text(127):      {"a:1", text(127)},
		"--addr a:1 --service " + text(128):      {},
		"--addr a:1 --service \xff":              {},
		"--addr a:1 --addr a:1":                  {},
		"--addr a:1 --address a:1":               {},
		"--addr a:1 --service s --service s":     {},
		"--addr a:1 --probe-codes --probe-codes": {},
		"--addr a:1 --probe-codes=true":          {},
		"--addr a:1 --timeout 1":                 {},
		"--addr a:1 --json":                      {},
		"--addr a:1 --watch":                     {},
		"--addr a:1 -v":                          {},
		"--addr a:1 --tls":                       {},
		"--addr a:1 --help":                      {},
		"--addr a:1 plugin.py":                   {},
		"--addr a:1 --":                          {},
		"--addr a:1 -":                           {},
		"---addr a:1":                            {},
		"address a:1":                            {},
		"--Address a:1":                          {},
		"--addr":                                 {},
		"--addr a:1 --service":                   {},
		"plugin.py":                              {},
	} {
		words := strings.Split(line, " ")
		got, ok := readHealth(words)
		if ok != (want != health{}) || ok && got != want {
			t.Errorf("%q: %+v, %v, want %+v", line, got, ok, want)
		}
	}
}

// text is one of some length.
func text(n int) string { return strings.Repeat("x", n) }
