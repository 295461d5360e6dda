package commands

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/fastcall"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// autoIdle is how long a plugin that a call started stays without one.
const autoIdle = 15 * time.Minute

func callCommand(f *program) command {
	var (
		o     callOptions
		start startOptions
		at    addressOptions
	)
	ofStart, ofAddress := launchFlags(&start.cfg), at.flags(&start.cfg.GRPC)
	background := inCategory(backgroundCategory,
		switchFlag(&start.auto, "auto-start", "start PLUGIN if it is not running; it stops after 15 minutes without a call"),
		switchFlag(&o.call.Replay, "replay", "repeat the call after every restart of the plugin"),
	)
	return command{names: 2, config: &start.cfg, Command: &cli.Command{
		Name:      "call",
		Usage:     "call a hook of a background plugin",
		ArgsUsage: "NAME|PLUGIN HOOK [ARG...]\n--address ADDRESS HOOK [ARG...]",
		Flags:     slices.Concat(limitFlags(&o.timeout, &o.errorField), []cli.Flag{inputFlag(&o.input), o.rawFlag()}, background, ofAddress, ofStart, f.opts.flags()),
		Action: func(c *cli.Context) error {
			left := fastcall.Take()
			words := c.Args().Slice()
			if given, err := at.isGiven(ofAddress, slices.Concat(ofStart, background), messageFlags...); err != nil {
				return err
			} else if given {
				return f.callAddress(c.Context, &at, start.cfg, &o, words)
			}
			err := wantHook(words, "NAME")
			if err == nil && start.auto {
				err = f.readStart(&start, words[0], ofStart)
			} else if name := firstTyped(ofStart); err == nil && name != "" {
				err = usage("%s applies only with --auto-start", name)
			}
			if err == nil {
				err = f.readHook(c.Context, &o, words[1], words[2:])
			}
			if err != nil {
				return err
			}
			return f.call(c.Context, words[0], start, &o, left)
		},
	}}
}

// callAddress calls a hook of a gRPC server that runs already.
func (f *program) callAddress(ctx context.Context, at *addressOptions, cfg runner.Config, o *callOptions, words []string) error {
	if len(words) == 0 {
		return hinted(usage("HOOK is missing"), "`pyplug hooks "+schema.QuoteLine([]string{"--address", at.address})+"` lists its hooks")
	}
	if err := f.readHook(ctx, o, words[0], words[1:]); err != nil {
		return err
	}
	server, err := f.connectAddress(ctx, at, cfg)
	if err != nil {
		return err
	}
	defer server.Close()
	if err := f.readInput(ctx, true, o); err != nil {
		return err
	}
	o.maxMessage = cfg.GRPC.MaxMessage
	return f.answer(ctx, cmp.Or(o.timeout, runner.DefaultCall), server, *o, func() (hook.Info, int) { return hook.Info{}, 0 })
}

// call calls a hook of the background plugin that word means. If fastcall sent the call
// and left it, it waits for that answer: the call must not be sent again. A call that has
// not begun is made again if the plugin is being stopped, or is to be started and others
// stop it meanwhile.
func (f *program) call(ctx context.Context, word string, start startOptions, o *callOptions, left *fastcall.Left) error {
	for attempt := 1; ; attempt++ {
		client, err := f.callee(ctx, word, start, left)
		if err == nil {
			err = f.callDaemon(ctx, client, o)
		}
		again := client != nil && daemon.Is(err, daemon.Stopping) || start.auto && isNotRunning(err)
		if !again || o.stream != nil || attempt == startAttempts { // the stream may have been read from
			return err
		}
		left = nil // it was rejected
		if client == nil {
			continue
		}
		if err := client.AwaitFree(ctx); err != nil {
			return err
		}
	}
}

// callDaemon reads the input, unless it has been read, and calls the hook.
func (f *program) callDaemon(ctx context.Context, client *daemon.Client, o *callOptions) error {
	if o.call.Args.JSON == nil {
		if err := f.readInput(ctx, runner.TransportOf(client.Identity().Transport).Streams, o); err != nil {
			return err
		}
	}
	return f.answer(ctx, o.timeout, client, *o, func() (hook.Info, int) { return answered(ctx, client) })
}

// callee returns the daemon to call. It starts the plugin first if start says so.
func (f *program) callee(ctx context.Context, word string, start startOptions, left *fastcall.Left) (*daemon.Client, error) {
	switch {
	case left != nil:
		client, err := daemon.Adopt(left.Name, left.Conn, left.Read)
		if err == nil {
			f.plugin = &plugin{f: f, path: word, daemon: client.Identity()}
		}
		return client, err
	case !start.auto:
		return f.connect(ctx, word)
	}
	client, err := f.connectNamed(ctx, word) // a running name is called as it is
	if client != nil || err != nil {
		return client, err
	}
	name, err := f.startOrFind(ctx, start)
	if err != nil {
		return nil, err
	}
	return f.connectTo(ctx, name, word)
}

// answered returns the process that answered a call: the one that runs now.
func answered(ctx context.Context, p hook.Plugin) (hook.Info, int) {
	st, err := p.Status(ctx)
	if err != nil {
		return hook.Info{}, 0 // the result is there, and is what counts
	}
	return hook.Info{PID: st.PID}, st.Generation
}
