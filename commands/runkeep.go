package commands

import (
	"github.com/urfave/cli/v2"
)

const keepText = `   With --keep the plugin stays alive in the foreground, under a name that call,
   status and the other commands find. Whenever it is ready, a line of JSON says
   how to attach to it. Crashes, restarts and reloads are reported on standard
   error. A service manager is notified (NOTIFY_SOCKET, WATCHDOG_USEC). SIGTERM
   stops it, with exit code 0 if the plugin stops cleanly. SIGHUP restarts the
   workers under a service manager or without a terminal; otherwise it stops it.

   pyplug run --keep --watch greeter.py
   pyplug run --keep provider.py >attach.json &`

// runKeep keeps a plugin alive in the foreground.
func (f *program) runKeep(c *cli.Context, o *startOptions) error {
	if err := f.readKept(c, o, nil); err != nil {
		return err
	}
	f.endless = true
	return f.serve(c.Context, *o, nil)
}
