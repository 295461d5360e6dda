//go:build linux || darwin

package health

import (
	"os"

	"github.com/pyplug/pyplug/commands/warm"
)

func init() {
	if len(os.Args) < 2 || os.Args[1] != "health" {
		return
	}
	if q, ok := readHealth(os.Args[2:]); ok && warm.Plain() && q.serving() {
		warm.End([]byte("healthy\n"), "")
	}
}
