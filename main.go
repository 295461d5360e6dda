// Command pyplug starts, calls and looks after Python plugins.
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
