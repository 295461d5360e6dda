package commands

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/fastcall"
	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/service"
)

func callCommand(prog *program) command {
	var (
		o       callOptions
		lines   linesOptions
		start   startOptions
		at      addressOptions
		inLines bool
	)
	ofLines := lines.flags("")
	linesFlag := inCategory(linesCategory, switchFlag(&inLines, "lines", "read one call per line from standard input and print one answer per line"))
	ofCall := []cli.Flag{inputFlag(&o.input)}
	ofStart, ofAddress := launchFlags(&start.Config), at.flags(&start.Config.GRPC)
	replay := switchFlag(&o.call.Replay, "replay", "repeat the call after every restart of the plugin")
	background := inCategory(backgroundCategory,
		switchFlag(&start.AutoStarted, "auto-start", "start PLUGIN if it is not running; it stops after 15 minutes without a call"), replay)
	cmd := newCommand("call", "call a hook of a background plugin", "NAME|PLUGIN HOOK [ARG...]\n--lines NAME|PLUGIN [HOOK [ARG...]]\n--address ADDRESS HOOK [ARG...]",
		slices.Concat(limitFlags(&o.timeout, &o.errorField), ofCall, []cli.Flag{o.rawFlag()}, linesFlag, ofLines, background, ofAddress, ofStart, prog.opts.flags()), func(ctx context.Context, words []string) error {
			left := fastcall.Take()
			if err := onlyFor(flagGroup{!inLines, "a single call", append(ofCall, replay)}, flagGroup{inLines, "call --lines", ofLines}); err != nil {
				return err
			}
			given, err := at.isGiven(ofAddress, slices.Concat(ofStart, background, linesFlag), messageFlags...)
			switch {
			case err != nil:
				return err
			case given:
				return prog.callAddress(ctx, &at, start.Config, &o, words)
			case inLines:
				lines.raw, lines.Timeout = o.raw, o.timeout
				err = prog.readLines(ctx, &lines, words, "NAME")
			default:
				err = wantHook(words, "NAME")
			}
			if err == nil && start.AutoStarted {
				err = prog.readStart(&start, words[0], ofStart)
			} else if name := firstTyped(ofStart); err == nil && name != "" {
				err = usage("%s applies only with --auto-start", name)
			}
			if err == nil && !inLines {
				err = prog.readHook(ctx, &o, words[1], words[2:])
			}
			if err != nil {
				return err
			}
			if inLines {
				return prog.callLines(ctx, words[0], start, &lines, o.errorField)
			}
			return prog.call(ctx, words[0], start, &o, left)
		})
	cmd.names, cmd.config = 2, &start.Config
	return cmd
}

// callAddress calls a hook of a gRPC server that runs already.
func (prog *program) callAddress(ctx context.Context, at *addressOptions, cfg runner.Config, o *callOptions, words []string) error {
	if err := wantWords(words, "HOOK"); err != nil {
		return hinted(err, schema.Hintf("%s lists its hooks", schema.Command{"hooks", "--address", at.address}))
	}
	if err := prog.readHook(ctx, o, words[0], words[1:]); err != nil {
		return err
	}
	p, err := prog.connectAddress(ctx, at, cfg, !runner.IsLocal(at.address))
	if err != nil {
		return err
	}
	defer p.close()
	o.maxMessage = cfg.GRPC.MaxMessage
	if err = prog.readInput(ctx, p.transport().Streams, o); err == nil {
		err = p.answer(ctx, cmp.Or(o.timeout, runner.DefaultCall), *o)
	}
	return p.failed(err)
}

// call calls a hook of the background plugin that word names. If fastcall has sent the call,
// it waits for that answer, because a call must not be sent twice. It repeats a call that has
// not begun, unless its stream may have been read from.
func (prog *program) call(ctx context.Context, word string, start startOptions, o *callOptions, left *fastcall.Left) error {
	return prog.withCallee(ctx, word, start, left, func(p *plugin) (_ bool, err error) {
		if o.call.Args.JSON == nil { // else it has been read
			err = prog.readInput(ctx, p.transport().Streams, o)
		}
		if err == nil {
			err = p.answer(ctx, o.timeout, *o)
		}
		return o.stream == nil, p.failed(err)
	})
}

// withCallee connects to the background plugin that word names, and calls do. If do may be
// repeated, it repeats both when the plugin was stopping, or when --auto-start is set and the
// plugin has stopped meanwhile.
func (prog *program) withCallee(ctx context.Context, word string, start startOptions, left *fastcall.Left, do func(*plugin) (mayRepeat bool, err error)) error {
	for attempt := 1; ; attempt++ {
		mayRepeat := true
		p, err := prog.callee(ctx, word, start, left)
		if err == nil {
			mayRepeat, err = do(p)
		}
		again := p != nil && daemon.Is(err, daemon.Stopping) || start.AutoStarted && isNotRunning(err)
		if !again || !mayRepeat || attempt == service.StartAttempts {
			return err
		}
		left = nil // it was rejected
		if p == nil {
			continue
		}
		if err := p.client.AwaitFree(ctx); err != nil {
			return p.failed(err)
		}
	}
}

// callee connects to the daemon to call. It starts the plugin first if start says so.
func (prog *program) callee(ctx context.Context, word string, start startOptions, left *fastcall.Left) (*plugin, error) {
	switch {
	case left != nil:
		client, err := daemon.Adopt(left.Dir, left.Name, left.Conn, left.Read)
		if err != nil {
			return nil, err
		}
		return &plugin{prog: prog, path: word, client: client, elsewhere: true}, nil
	case !start.AutoStarted:
		return prog.connect(ctx, word)
	}
	p, err := prog.connectNamed(ctx, word) // a running name is called as it is
	if p != nil || err != nil {
		return p, err
	}
	name, err := prog.startOrFind(ctx, start)
	if err != nil {
		return nil, err
	}
	return prog.connectTo(ctx, name, word)
}

// callOptions are the options of one call.
type callOptions struct {
	timeout    time.Duration // 0: the plugin's own
	errorField string        // empty: the plugin's own
	input      string        // the file of --input
	raw        bool

	call       hook.Call
	stream     io.Reader // the input, if it is read as it is sent
	maxMessage int       // the limit of its messages
	format     ui.Format
}

func (o *callOptions) rawFlag() *flag {
	return switchFlag(&o.raw, "raw", "print a string as it is, bytes verbatim, nothing for null, and a message's only text")
}

func inputFlag(to *string) *flag {
	return fileFlag(to, "input", "read all arguments from `FILE`, - for standard input")
}

// readHook reads HOOK and its arguments.
func (prog *program) readHook(ctx context.Context, o *callOptions, hookName string, args []string) (err error) {
	o.maxMessage = defaultMessage
	switch {
	case prog.opts.json && o.raw:
		return usage("--json and --raw cannot be combined")
	case prog.opts.json:
		o.format = ui.Envelope
	case o.raw:
		o.format = ui.Raw
	}
	if o.input != "" && len(args) > 0 {
		return usage("--input gives all arguments; unexpected argument: %s", schema.QuoteLine(args[:1]))
	}
	o.call.Hook = hookName
	o.call.Args.Words, err = prog.readWords(ctx, args)
	return err
}

// answer makes a call and prints the result. limit is the timeout; 0 means none.
func (p *plugin) answer(ctx context.Context, limit time.Duration, o callOptions) error {
	callCtx, cancel := hook.WithLimit(ctx, limit)
	defer cancel()
	if o.stream != nil {
		most, tooLong := hook.MessageLimit(o.maxMessage)
		o.call.Input = hook.Messages(callCtx, o.stream, inputName(o.input), most, tooLong)
	}
	prog := p.prog
	stop := prog.streams.Waiting("waiting for " + o.call.Hook)
	o.call.Emit = func(item hook.Item) error {
		p.output.Flush()
		return prog.write(callCtx, func() error { return prog.streams.Item(o.format, o.call.Hook, item) })
	}
	r, err := runner.CallCarrying(callCtx, p.running(), o.errorField, o.call)
	stop()
	p.output.Flush()
	if err != nil {
		return prog.hintInput(err, o)
	}
	for _, note := range r.Notes {
		prog.streams.Note(note)
	}
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

// runOptions are the options of run for a single call.
type runOptions struct {
	callOptions
	cfg runner.Config // what they say of the plugin
}

func runCommand(prog *program) command {
	var (
		o             runOptions
		lines         linesOptions
		start         startOptions
		inLines, keep bool
	)
	ofLines, ofKeep := lines.flags(", by --workers unless that is set"), start.nameFlags()
	linesFlag := switchFlag(&inLines, "lines", "keep the plugin alive, read one call per line from standard input and print one answer per line")
	keepFlag := switchFlag(&keep, "keep", "keep the plugin alive in the foreground, and take calls under a name")
	ofCall, ofResults, ofWorkers := []cli.Flag{inputFlag(&o.input)}, []cli.Flag{o.rawFlag()}, keepFlags(&o.cfg.Keep)
	flags := slices.Concat(limitFlags(&o.cfg.Timeouts.Call, &o.cfg.ErrorField), ofCall, ofResults,
		inCategory(linesCategory, linesFlag), ofLines, inCategory(backgroundCategory, keepFlag), ofKeep,
		resultFlags(&o.cfg), ofWorkers, pluginFlags(&o.cfg, "10m"), prog.opts.flags())
	cmd := newCommand("run", "start a plugin, call one hook, print the result, stop", "PLUGIN HOOK [ARG...]\n--lines PLUGIN [HOOK [ARG...]]\n--keep PLUGIN",
		flags, func(ctx context.Context, words []string) error {
			if keep && inLines {
				return usage("--lines and --keep cannot be combined")
			}
			err := onlyFor(flagGroup{inLines, "run --lines", ofLines}, flagGroup{keep, "run --keep", ofKeep},
				flagGroup{keep || inLines, "run --lines and --keep", ofWorkers}, flagGroup{!keep && !inLines, "a single call", ofCall},
				flagGroup{!keep, "a single call and --lines", ofResults})
			switch {
			case err != nil:
				return err
			case keep:
				start.Config = o.cfg
				if err := prog.readKept(words, &start, nil); err != nil {
					return err
				}
				return prog.untilSignal(prog.serve(ctx, start, nil))
			case inLines:
				lines.raw = o.raw
				return prog.runLines(ctx, words, &lines, o.cfg)
			}
			if err := prog.readRun(ctx, words, &o); err != nil {
				return err
			}
			return prog.run(ctx, o)
		})
	cmd.names, cmd.config = 2, &o.cfg
	return cmd
}

// readRun reads PLUGIN, HOOK and its arguments. It reports every mistake in them before anything
// starts.
func (prog *program) readRun(ctx context.Context, words []string, o *runOptions) error {
	if err := wantHook(words, "PLUGIN"); err != nil {
		return err
	}
	if err := openConfig(&o.cfg, words[0]); err != nil {
		return err
	}
	if err := prog.readHook(ctx, &o.callOptions, words[1], words[2:]); err != nil {
		return err
	}
	o.maxMessage = o.cfg.GRPC.MaxMessage
	return nil
}

// wantHook returns a usage error unless the arguments are a plugin and a hook. what is the word
// for the plugin in the message.
func wantHook(words []string, what string) error {
	err := wantWords(words, what, "HOOK")
	if len(words) != 1 {
		return err
	}
	if two := manifest.TwoWords(words[0]); two != nil {
		return hinted(err, two...)
	}
	return hinted(err, schema.Hintf("%s lists its hooks", append(schema.Command{"hooks"}, typedWords(words)...)))
}

// run opens the plugin, calls the hook and prints what it returns.
func (prog *program) run(ctx context.Context, o runOptions) error {
	o.cfg.Once = true
	p, err := prog.launch(ctx, o.cfg, func(s *runner.Opened) error {
		return prog.readInput(ctx, s.Transport().Streams, &o.callOptions)
	})
	if err != nil {
		return err
	}
	defer p.close()
	return p.failed(p.answer(ctx, p.opened.Settings().Timeouts.Call, o.callOptions))
}
