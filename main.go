// Command pyplug starts, calls and looks after Python plugins.
package main

import (
	"os"

	"github.com/pyplug/pyplug/commands"
	"github.com/pyplug/pyplug/commands/ui"
	_ "github.com/pyplug/pyplug/commands/warm/call"
	_ "github.com/pyplug/pyplug/commands/warm/health"
)

func main() {
	os.Exit(commands.Main(os.Args, ui.System()))
}
