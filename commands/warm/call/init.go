//go:build linux || darwin

package call

import (
	"github.com/pyplug/pyplug/commands/warm"
	"github.com/pyplug/pyplug/runner/wire"
)

func init() {
	words := commandLine()
	if len(words) == 0 || words[0] != "call" {
		return
	}
	c, ok := readCall(words[1:])
	if !ok || !warm.Plain() {
		return
	}
	line, left := c.answer()
	if line != nil {
		warm.End(line, "  plugin: "+c.name+"\n")
	}
	wire.Leave(left)
}
