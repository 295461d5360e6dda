package commands

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
)

// served is a plugin that is kept alive, as the clients of its daemon see it.
type served struct {
	*runner.Pool
	s *service
}

var _ hook.Plugin = served{}

// Call calls one hook. The result comes with what a caller should know.
func (v served) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	r, err := v.Pool.Call(ctx, c)
	if err == nil {
		r.Notes = append(r.Notes, v.s.notes(false)...)
	}
	return r, err
}

// Status reports how the plugin is, and how to attach to it.
func (v served) Status(context.Context) (hook.Status, error) {
	st := status(v.Pool)
	st.Attach, _ = v.s.attachLine(v.Pool) // nil if nobody can now
	return st, nil
}

// Restart replaces the workers by those of the files as they are now.
func (v served) Restart(ctx context.Context, reason string) error {
	now, err := v.s.session.Snapshot(ctx)
	if err != nil {
		return err
	}
	if err := v.Pool.Restart(ctx, reason); err != nil {
		return err
	}
	v.s.renewed(now)
	v.s.describe(ctx, v.Pool) // before the first call
	return nil
}

// stopDrain is how long running calls have when the plugin is stopped.
const stopDrain = 5 * time.Second

// Close drains and stops the plugin, and writes its end into the log.
func (v served) Close(ctx context.Context) error {
	drain, cancel := context.WithTimeout(ctx, stopDrain)
	_ = v.Pool.Drain(drain) // calls that still run fail
	cancel()
	err := v.Pool.Close(ctx)
	v.s.unclean = err != nil || ctx.Err() != nil
	v.s.f.plugin.events.flush()
	return err
}

// attachLine says how to attach to a plugin: for a gRPC plugin as Terraform has it,
// a host's configuration under the plugin's id; for a functions file by its name and
// socket. ok is false when nobody can just now.
func (s *service) attachLine(k *runner.Pool) (line json.RawMessage, ok bool) {
	id := s.server.Identity()
	var shape any = struct {
		Schema int    `json:"schema"`
		Name   string `json:"name"`
		Socket string `json:"socket"`
	}{1, id.Name, id.Socket}
	if id.Transport == "grpc" {
		at := status(k).Attach
		if at == nil {
			return nil, false
		}
		key := id.Name
		if written := s.session.Plugin().Manifest.ID; written != "" {
			key = written // such as a provider's address
		}
		shape = map[string]json.RawMessage{key: at}
	}
	line, err := json.Marshal(shape)
	return line, err == nil
}

// describeLimit is how long a ready worker may take to describe its hooks.
const describeLimit = 2 * time.Second

// describe has the worker of a functions file, which does one thing at a time, asked
// for its hooks while it is not busy, so that hooks answers when it is.
func (s *service) describe(ctx context.Context, k *runner.Pool) {
	if s.session.Settings().Transport == "grpc" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, describeLimit)
	defer cancel()
	_, _ = k.Hooks(ctx, "") // a client that asks for them gets the error
}

// generations follows the starts of workers until ctx ends: of each that is ready it
// prints how to attach, and knows of which files it is. That is not so with several
// workers, of which the others are older. Who does not read what is printed does not
// end the plugin.
func (s *service) generations(ctx context.Context, k *runner.Pool) {
	silent := s.background() || s.o.events == "-"
	alone := s.session.KeepSettings().Workers == 1
	now := s.first
	for {
		var state hook.State
		select {
		case <-ctx.Done():
			return
		case state = <-s.states:
		}
		if state == hook.StateStarting {
			if seen, err := s.session.Snapshot(ctx); err == nil { // else it ends
				now = seen
			}
			continue
		}
		if alone {
			s.renewed(now)
		}
		s.describe(ctx, k)
		line, ok := s.attachLine(k)
		if silent || !ok { // it may have ended again
			continue
		}
		if err := s.f.write(ctx, func() error { return s.f.streams.Attach(line) }); err != nil && ctx.Err() == nil {
			silent = true
			if !errors.Is(err, errQuiet) {
				s.f.streams.Warn(err.Error())
			}
		}
	}
}
