package commands

import (
	"context"
	"sync"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
)

// callLines answers the lines of standard input with calls of the background plugin that word
// names.
func (f *program) callLines(ctx context.Context, word string, start startOptions, o *linesOptions, errorField string) error {
	var p *plugin
	var notes []string
	err := f.withCallee(ctx, word, start, nil, func(found *plugin) (_ bool, err error) {
		defer f.streams.Waiting("waiting for " + word)()
		p = found
		_, notes, err = p.client.Ready(ctx)
		return true, p.failed(err)
	})
	if err != nil {
		return err
	}
	for _, note := range notes {
		f.streams.Note(note)
	}
	if err := f.openRecord(o, p.client.Identity().Name); err != nil {
		return err
	}
	gaveUp := make(chan struct{})
	o.GaveUp = gaveUp
	k := &backgroundLines{Client: p.client, errorField: errorField, giveUp: sync.OnceFunc(func() { close(gaveUp) })}
	return p.failed(p.lines(ctx, k, o))
}

// backgroundLines is a background plugin as lines call it.
type backgroundLines struct {
	*daemon.Client
	errorField string
	giveUp     func() // is called when the plugin takes no more calls
}

// Call calls one hook. Later lines are not called if the plugin takes no calls: they would all
// fail in the same way.
func (k *backgroundLines) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	r, err := runner.CallCarrying(ctx, k.Client, k.errorField, c)
	if err != nil && k.isOver(hook.AsError(err)) {
		k.giveUp()
	}
	return r, err
}

// isOver reports whether the error of a call means that the plugin takes no more calls.
func (k *backgroundLines) isOver(e *hook.Error) bool {
	switch e.Kind {
	case hook.Unavailable, hook.Interpreter, hook.Start, hook.Handshake:
		now, err := k.Status(context.Background())
		return err != nil || !now.State.Takes() && now.State != hook.StateStarting
	}
	return false
}
