package commands

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

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
	flags := append(callFlags(),
		&cli.BoolFlag{Category: backgroundCategory, Name: "auto-start", Usage: "start PLUGIN if it does not run; it ends after 15 minutes without a call"},
		&cli.BoolFlag{Category: backgroundCategory, Name: "replay", Usage: "make the call again after every later start of the plugin"},
	)
	for _, group := range [][]cli.Flag{resultFlags(), keepFlags(), pluginFlags("10m"), outputFlags()} {
		flags = append(flags, group...)
	}
	return command{names: 2, Command: &cli.Command{
		Name:        "call",
		Usage:       "call a plugin that runs in the background",
		ArgsUsage:   "NAME|PLUGIN HOOK [ARG...]",
		Description: callText,
		Flags:       flags,
		Action: func(c *cli.Context) error {
			if err := f.begin(c); err != nil {
				return err
			}
			return f.callBackground(c)
		},
	}}
}

// perCall are the flags of start that call has for one call.
var perCall = []string{"timeout", "error-field", "name", "watch", "events"}

// callBackground reads the command line of call, and makes the call.
func (f *program) callBackground(c *cli.Context) error {
	left, err := daemon.Leftover() // a call that was sent is not sent again
	if err != nil {
		return err
	}
	if left != nil {
		defer left.Close()
	}
	words := c.Args().Slice()
	switch len(words) {
	case 0:
		return usage("NAME and HOOK are missing")
	case 1:
		return &missingHookError{plugin: words[0]}
	}
	auto := c.Bool("auto-start")
	if !auto {
		if err := f.startedOnly(func(flag string) error {
			return usage("--%s says how a plugin is started, and --auto-start is not given", flag)
		}); err != nil {
			return err
		}
	}
	start := startOptions{}
	if auto {
		if start, err = f.readStart(c, words[0], perCall...); err != nil {
			return err
		}
		start.auto = true
	}
	o, err := f.readCallFlags(c, words[1], words[2:])
	if err != nil {
		return err
	}
	f.plugin = words[0]
	ctx := c.Context
	if left != nil {
		err = f.answer(ctx, 0, resumed{f.noting(left)}, o, nobody)
		if stoppingName(err) == "" {
			return err
		}
	}
	for { // once, unless it is being stopped: then it was not called
		if name := stoppingName(err); name != "" {
			if err := daemon.AwaitFree(ctx, name); err != nil {
				return err
			}
		}
		err = f.callOnce(ctx, words[0], start, &o, c.Bool("replay"))
		if stoppingName(err) == "" || o.stream != nil { // which may have been read from
			return err
		}
	}
}

// callOnce connects to what is to be called, and makes the call. What it reads of
// --input it does not read again.
func (f *program) callOnce(ctx context.Context, word string, start startOptions, o *callOptions, replay bool) error {
	client, err := f.callee(ctx, word, start)
	if err != nil {
		return err
	}
	defer client.Close()
	if o.call.Args.JSON == nil {
		if err := f.readInput(ctx, client.Identity().Transport, o); err != nil {
			return err
		}
	}
	return f.answer(ctx, 0, within{client, *o, replay}, *o, func() (hook.Info, int) { return answered(ctx, client) })
}

// stoppingName names the plugin that was not called since it is being stopped; empty
// for any other error.
func stoppingName(err error) string {
	if e := (*daemon.StoppingError)(nil); errors.As(err, &e) {
		return e.Name
	}
	return ""
}

// resumed is a caller whose one call has been made by the warm way.
type resumed struct{ client *daemon.Client }

func (r resumed) Call(ctx context.Context, call hook.Call) (hook.Result, error) {
	return r.client.Resume(ctx, call.Emit)
}

// nobody is who answered where that is not asked for.
func nobody() (hook.Info, int) { return hook.Info{}, 0 }

// callee connects to what is to be called, and starts it where that was asked for.
func (f *program) callee(ctx context.Context, word string, start startOptions) (*daemon.Client, error) {
	if !start.auto {
		return f.connect(ctx, word)
	}
	if plain(word) {
		t, err := f.find(ctx, word)
		if err != nil {
			return nil, err
		}
		if t.name != "" { // a name that runs is taken as it is
			return f.connect(ctx, t.name)
		}
	}
	id, err := f.startOrFind(ctx, start)
	if err != nil {
		return nil, err
	}
	return f.connect(ctx, id.Name)
}

// startedOnly refuses flags that say how a plugin is started, where they were typed:
// the environment may hold them for other commands.
func (f *program) startedOnly(refuse func(flag string) error) error {
	for _, flags := range [][]cli.Flag{resultFlags(), keepFlags(), pluginFlags("")} {
		for _, flag := range flags {
			if slices.ContainsFunc(flag.Names(), func(name string) bool { return slices.Contains(f.typed, name) }) {
				return refuse(flag.Names()[0])
			}
		}
	}
	return nil
}

// within is a caller whose calls have what one command line says of them.
type within struct {
	client *daemon.Client
	o      callOptions
	replay bool
}

func (w within) Call(ctx context.Context, call hook.Call) (hook.Result, error) {
	return runner.CallCarrying(ctx, limited(w), w.o.errorField, call)
}

// limited is within without its error field.
type limited within

func (w limited) Call(ctx context.Context, call hook.Call) (hook.Result, error) {
	if w.replay {
		return w.client.Replay(ctx, call, w.o.timeout)
	}
	return w.client.CallWithin(ctx, call, w.o.timeout)
}

// answered tells which process answered a call: the one that is there now.
func answered(ctx context.Context, c *daemon.Client) (hook.Info, int) {
	st, err := c.Status(ctx)
	if err != nil {
		return hook.Info{}, 0 // the result is there, and is what counts
	}
	return hook.Info{PID: st.PID}, st.Generation
}
