package commands

import (
	"context"
	"errors"
	"os"
	"syscall"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/service"
)

// serve keeps a plugin alive under its name, in the background or in the foreground, until
// a signal or a client stops it.
func (f *program) serve(ctx context.Context, o startOptions, starter *daemon.Starter) error {
	p := f.newPlugin(o.Config.Plugin, f.opts.quiet || o.Detached)
	defer p.output.Close()
	p.follow(&o.Config)
	p.followEvents(&o.Config.Keep)
	stop := f.streams.Waiting("starting " + p.path)
	defer stop()
	host, err := p.host(ctx, o, starter, stop)
	if err == nil {
		kept := service.New(o.Options, host)
		p.printed = kept.Printed
		if err = p.open(ctx, kept.Config()); err == nil {
			err = kept.Serve(ctx, p.opened)
		}
	}
	if p.pool != nil {
		f.streams.Log("info", "stopped", "plugin", p.path)
	}
	switch {
	case p.pool != nil && err == nil && ctx.Err() != nil && !terminated(ctx):
		err = hook.NewError(hook.Canceled, context.Cause(ctx))
	case p.pool == nil && terminated(ctx) && !o.Detached && f.signals.kill.Err() == nil:
		err = nil
	}
	return p.failed(err)
}

// host is what this process does for the service that keeps p. It calls started once the
// plugin is ready.
func (p *plugin) host(ctx context.Context, o startOptions, starter *daemon.Starter, started func()) (service.Host, error) {
	f := p.f
	h := service.Host{
		Starter: starter, Kill: f.signals.kill, Hangup: f.signals.onHangup, Complete: p.complete, Note: p.note, Warn: p.warn,
		Ready: func(pool *runner.Pool) {
			p.pool = pool
			started()
			p.noteReady()
		},
	}
	for _, flag := range launchFlags(new(runner.Config)) {
		h.StartFlags = append(h.StartFlags, flag.Names()[0])
	}
	if !o.Detached && !f.opts.verbose {
		h.Transition = p.note
	}
	if !o.Detached && o.events != "-" {
		h.Attach = func(ctx context.Context, line string) error {
			return f.write(ctx, func() error { return f.streams.Line(line) })
		}
	}
	if o.events == "" {
		return h, nil
	}
	to, err := f.streams.Out, error(nil)
	if o.events != "-" {
		to, err = openOutput(ctx, "--events", o.events, os.O_APPEND, 0o600) // until the process ends
	}
	h.Event = func(name string, e hook.Event) error {
		_, err := to.Write(ui.EventJSON(name, e))
		return err
	}
	return h, err
}

// terminated reports whether SIGTERM, or the end of its terminal, ended ctx.
func terminated(ctx context.Context) bool {
	signal := (*signalError)(nil)
	return errors.As(context.Cause(ctx), &signal) && (signal.signal == syscall.SIGTERM || signal.signal == syscall.SIGHUP)
}
