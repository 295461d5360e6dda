// Command pyplug starts and calls Python plugins, and keeps them alive.
package main

import (
	"os"

	"github.com/pyplug/pyplug/commands"
	_ "github.com/pyplug/pyplug/commands/fastcall"
	"github.com/pyplug/pyplug/commands/ui"
)

func main() {
	code := commands.Main(os.Args, ui.System())
	commands.EndBySignal(code)
	os.Exit(code)
}
