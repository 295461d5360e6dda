package commands

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/commands/fastcall"
	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/service"
	"github.com/pyplug/pyplug/runner/settings"
)

func callCommand(prog *program) command {
	var (
		o       callOptions
		lines   linesOptions
		inLines bool
	)
	lines.retry = &o.retry
	ofLines := lines.flags("")
	linesFlag := cmdline.InCategory(linesCategory, cmdline.Switch(&inLines, "lines", "read one call per line from standard input and print one answer per line"))
	ofCall := cmdline.Flags{inputFlag(&o.input)}
	o.own = launchFlags(&o.Config)
	replay := cmdline.Switch(&o.call.Replay, "replay", "repeat the call after every restart of the plugin")
	background := cmdline.InCategory(backgroundCategory,
		cmdline.Switch(&o.AutoStarted, "auto-start", "start PLUGIN if it is not running; it stops after 15 minutes without a call"), replay)
	var cmd command
	cmd = newCommand("call", "call a hook of a background plugin", "NAME|PLUGIN HOOK [ARG...]\n--lines NAME|PLUGIN [HOOK [ARG...]]",
		slices.Concat(settingFlags(&o.Config, settings.Call), ofCall, cmdline.Flags{o.rawFlag()}, o.retry.flags(), linesFlag, ofLines, background, o.own, prog.opts.flags()), func(ctx context.Context, words []string) error {
			err := cmp.Or(cmdline.Only(!inLines, "to a single call", append(ofCall, replay)), cmdline.Only(inLines, "to call --lines", ofLines), o.retry.resolve())
			switch {
			case err != nil:
			case inLines:
				lines.raw, lines.Timeout = o.raw, o.Config.Timeouts.Call
				err = prog.readLines(ctx, &lines, words, "NAME")
			default:
				err = wantHook(cmd, words, "NAME")
			}
			if err == nil && o.AutoStarted {
				err = o.read(words[0])
			} else if err == nil {
				err = cmdline.Only(false, "with --auto-start", o.own)
			}
			if err == nil && !inLines {
				err = prog.readHook(ctx, &o, words[1:])
			}
			if err != nil {
				return err
			}
			to := target{words[0], o.startOptions, fastcall.Take()}
			if inLines {
				return prog.callLines(ctx, to, &lines)
			}
			return prog.call(ctx, to, &o)
		})
	cmd.names, cmd.config = 2, &o.Config
	return cmd
}

// target says which running plugin a command calls.
type target struct {
	word  string         // NAME or PLUGIN
	start startOptions   // if AutoStarted is set, the plugin is started unless it runs
	left  *fastcall.Left // the call that fastcall has sent, or nil
}

// call calls a hook of the target. A call that fastcall has sent must not be sent again, so call
// only waits for its answer. call repeats a call that has not begun, unless a part of the input
// stream may have been read.
func (prog *program) call(ctx context.Context, to target, o *callOptions) error {
	return prog.withCallee(ctx, to, func(p *background) (_ bool, err error) {
		defer p.close()
		if o.call.Args.JSON == nil { // if the call is repeated, the input has been read
			err = prog.readInput(ctx, p.transport().Streams, o)
		}
		if err == nil {
			err = prog.answer(ctx, p, *o)
		}
		return o.stream == nil, failed(p, err)
	})
}

// withCallee connects to the target, and calls do. With --auto-start it repeats both, if do may be
// repeated and the plugin is stopping or has stopped meanwhile.
func (prog *program) withCallee(ctx context.Context, to target, do func(*background) (mayRepeat bool, err error)) error {
	for attempt := 1; ; attempt++ {
		mayRepeat := true
		p, err := prog.callee(ctx, to)
		if err == nil {
			mayRepeat, err = do(p)
		}
		again := p != nil && daemon.Is(err, daemon.Stopping) || isNotRunning(err)
		if !again || !to.start.AutoStarted || !mayRepeat || attempt == service.StartAttempts {
			return err
		}
		to.left = nil // the daemon rejected the call that fastcall sent
		if p == nil {
			continue
		}
		waiting := prog.streams.Waiting(p.Identity().Name + " is stopping")
		err = p.AwaitFree(ctx)
		waiting()
		if err != nil {
			return failed(p, err)
		}
	}
}

// callee connects to the target.
func (prog *program) callee(ctx context.Context, to target) (*background, error) {
	switch {
	case to.left != nil:
		client, err := daemon.Adopt(to.left.Dir, to.left.Name, to.left.Conn, to.left.Read)
		if err != nil {
			return nil, err
		}
		return prog.background(client, to.word), nil
	case !to.start.AutoStarted:
		return prog.connect(ctx, to.word)
	}
	p, err := prog.connectNamed(ctx, to.word) // a running plugin needs no start
	if p != nil || err != nil {
		return p, err
	}
	name, err := prog.startOrFind(ctx, to.start)
	if err != nil {
		return nil, err
	}
	return prog.connectTo(ctx, name, to.word)
}

// callOptions are the options of one call, and of the plugin.
type callOptions struct {
	startOptions
	input string // the file of --input
	raw   bool

	call   hook.Call
	stream io.Reader // the input of a client stream, which is read while it is sent, or nil
	format ui.Format
	retry  retryOptions
}

func (o *callOptions) rawFlag() *cmdline.Flag {
	return cmdline.Switch(&o.raw, "raw", "print text, bytes and a message's only text field verbatim, and nothing for null")
}

func inputFlag(to *string) *cmdline.Flag {
	return cmdline.File(to, "input", "read all arguments from `FILE`, - for standard input")
}

// readHook reads HOOK and its arguments.
func (prog *program) readHook(ctx context.Context, o *callOptions, words []string) (err error) {
	name, args := words[0], words[1:]
	switch {
	case prog.opts.json && o.raw:
		return cmdline.Usage("--json and --raw cannot be combined")
	case prog.opts.json:
		o.format = ui.Envelope
	case o.raw:
		o.format = ui.Raw
	}
	if o.input != "" && len(args) > 0 {
		return cmdline.Usage("--input gives all arguments; unexpected argument: %s", schema.QuoteLine(args[:1]))
	}
	o.call.Hook = name
	o.call.Args.Words, err = prog.readWords(ctx, args)
	return err
}

// answer makes a call and prints the result.
func (prog *program) answer(ctx context.Context, p plugin, o callOptions) error {
	stop := prog.streams.Waiting("waiting for " + o.call.Hook)
	begun := o.stream != nil // if set, no retry: a stream must not be sent or printed twice
	var r hook.Result
	var err error
	for made, again := 1, true; again; made++ {
		callCtx, cancel := hook.WithLimit(ctx, p.timeouts(o.Config.Timeouts).Call)
		if o.stream != nil {
			most, tooLong := hook.MessageLimit(int(cmp.Or(o.Config.MaxMessage, settings.Defaults().MaxMessage)))
			o.call.Input = hook.Messages(callCtx, o.stream, inputName(o.input), most, tooLong)
		}
		o.call.Emit = func(item hook.Item) error {
			begun = true
			p.flush()
			return prog.write(callCtx, func() error { return prog.streams.Item(o.format, o.call.Hook, item) })
		}
		r, err = p.Call(callCtx, o.call)
		cancel()
		if again = err != nil && !begun; again {
			again, err = o.retry.wait(ctx, made, err)
		}
	}
	stop()
	p.flush()
	if err != nil {
		return o.retry.hinted(prog.hintInput(err, o))
	}
	prog.streams.Notes(r.Notes)
	prog.streams.Log("info", "called", "hook", o.call.Hook, "took", r.Took)
	if r.Streamed && o.format != ui.Envelope {
		return nil
	}
	info, generation := hook.Info{}, 0
	if o.format == ui.Envelope {
		info, generation = p.process(ctx)
	}
	return prog.write(ctx, func() error { return prog.streams.Result(o.format, o.call.Hook, r, info, generation) })
}

func runCommand(prog *program) command {
	var (
		o       callOptions
		lines   linesOptions
		inLines bool
		inPDB   bool
	)
	lines.retry = &o.retry
	ofLines := lines.flags(", with N workers unless --workers is set")
	linesFlag := cmdline.Switch(&inLines, "lines", "keep the plugin alive, read one call per line from standard input and print one answer per line")
	pdbFlag := cmdline.Switch(&inPDB, "pdb", "call the function in this terminal, and open Python's debugger at an exception")
	ofCall, ofWorkers := cmdline.Flags{inputFlag(&o.input), pdbFlag}, settingFlags(&o.Config, settings.Keep)
	flags := slices.Concat(settingFlags(&o.Config, settings.Call), ofCall, cmdline.Flags{o.rawFlag()}, o.retry.flags(),
		cmdline.InCategory(linesCategory, linesFlag), ofLines,
		settingFlags(&o.Config, settings.Result), ofWorkers, pluginFlags(&o.Config), prog.opts.flags())
	var cmd command
	cmd = newCommand("run", "start a plugin, call one hook, print the result, stop", "PLUGIN HOOK [ARG...]\n--lines PLUGIN [HOOK [ARG...]]",
		flags, func(ctx context.Context, words []string) error {
			err := cmp.Or(cmdline.Only(inLines, "to run --lines", slices.Concat(ofLines, ofWorkers)), cmdline.Only(!inLines, "to a single call", ofCall), o.retry.resolve())
			switch {
			case err != nil:
				return err
			case inLines:
				lines.raw = o.raw
				return prog.runLines(ctx, words, &lines, o.Config)
			}
			if err := wantHook(cmd, words, "PLUGIN"); err != nil {
				return err
			}
			if err := openConfig(&o.Config, words[0]); err != nil {
				return err
			}
			if err := prog.readHook(ctx, &o, words[1:]); err != nil { // every mistake is reported before anything starts
				return err
			}
			if inPDB {
				return prog.debug(ctx, o)
			}
			return prog.run(ctx, o)
		})
	cmd.names, cmd.config = 2, &o.Config
	return cmd
}

// wantHook returns a usage error unless the words of a command are a plugin and a hook. It lists
// the hooks if only the hook is missing. what is the word for the plugin in the message.
func wantHook(cmd command, words []string, what string) error {
	err := cmdline.WantWords(words, what+" HOOK ...")
	if len(words) != 1 || words[0] == "" {
		return err
	}
	var names []string
	for _, h := range hooksOf(cmd, words[0], "") {
		names = append(names, h.Name)
	}
	if len(names) > 0 {
		err = cmdline.Hinted(err, (&schema.NoHookError{Known: names}).Hints()...)
	}
	return cmdline.Hinted(err, schema.Hintf("run %s to see their arguments", append(schema.Command{"hooks"}, manifest.TypedWords(words)...)))
}

// run opens the plugin, calls the hook and prints its result.
func (prog *program) run(ctx context.Context, o callOptions) error {
	o.Config.Once = o.retry.Max == 0
	o.Config.Defaults.Restart.Max, o.Config.Patient = linesRestarts, true
	p, err := prog.launch(ctx, o.Config, func(p *local) error {
		return prog.readInput(ctx, p.Transport().Streams, &o)
	})
	if err != nil {
		return err
	}
	defer p.close()
	return failed(p, prog.answer(ctx, p, o))
}
