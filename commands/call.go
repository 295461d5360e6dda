package commands

import (
	"context"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/fastcall"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
)

// autoIdle is how long a plugin that a call started stays without one.
const autoIdle = 15 * time.Minute

const callText = `Call one HOOK of a plugin that runs in the background, and print its result as one JSON line.
   Arguments, results and exit codes are those of run; what the plugin prints is in its log.

   NAME is what start printed; the PLUGIN's path will do, too.

` + argumentText + `

   pyplug call greeter greet World
   pyplug call --raw greeter greet "=$name"
   pyplug call --auto-start greeter.py greet World
   pyplug call --replay greeter login Ada`

func callCommand(f *program) command {
	var (
		o     callOptions
		start startOptions
		flags callFlags
	)
	flags.start = launchFlags(&start.cfg)
	background := inCategory(backgroundCategory,
		switchFlag(&start.auto, "auto-start", "start PLUGIN if it does not run; it ends after 15 minutes without a call"),
		switchFlag(&flags.replay, "replay", "repeat the call after every restart of the plugin"),
	)
	return command{names: 2, Command: &cli.Command{
		Name:        "call",
		Usage:       "call a plugin that runs in the background",
		ArgsUsage:   "NAME|PLUGIN HOOK [ARG...]",
		Description: callText,
		Flags:       slices.Concat(limitFlags(&o.timeout, &o.errorField), o.onceFlags(), background, flags.start, f.opts.flags()),
		Action:      func(c *cli.Context) error { return f.callBackground(c, &o, &start, flags) },
	}}
}

// callFlags are what a call is besides its options and those of the start.
type callFlags struct {
	replay bool
	start  []cli.Flag // that say how the plugin is started
}

// callBackground completes the command line of call, and makes the call.
func (f *program) callBackground(c *cli.Context, o *callOptions, start *startOptions, flags callFlags) error {
	left, err := adopt()
	if err != nil {
		return err
	}
	words := c.Args().Slice()
	if err := wantHook(words, "NAME"); err != nil {
		return err
	}
	if start.auto {
		err = openConfig(&start.cfg, words[0])
		f.readStart(start, flags.start)
	} else if name := firstTyped(flags.start); name != "" {
		err = usage("%s applies only with --auto-start", name)
	}
	if err == nil {
		err = f.readHook(c.Context, o, words[1], words[2:])
	}
	if err != nil {
		return err
	}
	f.plugin = &plugin{f: f, path: words[0]}
	ctx := c.Context
	if left != nil {
		o.name = words[0]
		f.plugin.daemon = left.Identity()
		err = f.answer(ctx, 0, left, *o, nobody)
		if !daemon.Is(err, daemon.Stopping) {
			return err
		}
	}
	for { // once, unless the plugin is being stopped: then it was not called
		if daemon.Is(err, daemon.Stopping) {
			if err := daemon.AwaitFree(ctx, o.name); err != nil {
				return err
			}
		}
		err = f.callOnce(ctx, words[0], *start, o, flags.replay)
		if !daemon.Is(err, daemon.Stopping) || o.stream != nil { // which may have been read from
			return err
		}
	}
}

// adopt returns a client whose first call continues the one that fastcall sent: it
// must not be sent again. It is nil if fastcall sent none.
func adopt() (*daemon.Client, error) {
	left := fastcall.Take()
	if left == nil {
		return nil, nil
	}
	return daemon.Adopt(left.Name, left.Conn, left.Read)
}

// callOnce finds the daemon and makes the call. What it has read of --input it does
// not read again.
func (f *program) callOnce(ctx context.Context, word string, start startOptions, o *callOptions, replay bool) error {
	client, err := f.callee(ctx, word, start)
	if err != nil {
		return err
	}
	o.name = client.Identity().Name
	if o.call.Args.JSON == nil {
		if err := f.readInput(ctx, client.Identity().Transport, o); err != nil {
			return err
		}
	}
	o.call.Replay = replay
	return f.answer(ctx, o.timeout, carrying{client, o.errorField}, *o, func() (hook.Info, int) { return answered(ctx, client) })
}

// nobody stands for the unknown process that answered a call.
func nobody() (hook.Info, int) { return hook.Info{}, 0 }

// callee finds the daemon to call. It starts the plugin first if start says so.
func (f *program) callee(ctx context.Context, word string, start startOptions) (*daemon.Client, error) {
	if !start.auto {
		return f.connect(ctx, word)
	}
	if plain(word) {
		t, err := f.find(ctx, word)
		if err != nil {
			return nil, err
		}
		if t.name != "" { // a running name is called as it is
			return f.connect(ctx, t.name)
		}
	}
	id, err := f.startOrFind(ctx, start)
	if err != nil {
		return nil, err
	}
	return f.connect(ctx, id.Name)
}

// carrying is a caller whose results may carry an error at a path.
type carrying struct {
	hook.Caller
	path string
}

func (c carrying) Call(ctx context.Context, call hook.Call) (hook.Result, error) {
	return runner.CallCarrying(ctx, c.Caller, c.path, call)
}

// answered returns the process that answered a call: the one that runs now.
func answered(ctx context.Context, p hook.Plugin) (hook.Info, int) {
	st, err := p.Status(ctx)
	if err != nil {
		return hook.Info{}, 0 // the result is there, and is what counts
	}
	return hook.Info{PID: st.PID}, st.Generation
}
