package commands

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
)

// served is a plugin that is kept, as a daemon's clients see it.
type served struct {
	*runner.Kept
	s *service
}

var _ daemon.Session = served{}

// Restart replaces the workers by those of the files as they are now.
func (v served) Restart(ctx context.Context, reason string) error {
	now, err := v.s.session.Snapshot(ctx)
	if err != nil {
		return err
	}
	if err := v.Kept.Restart(ctx, reason); err != nil {
		return err
	}
	v.s.renewed(now)
	describe(ctx, v.Kept) // before the first call
	return nil
}

// Close stops the plugin, and has its end in the log before that is closed.
func (v served) Close(ctx context.Context) error {
	err := v.Kept.Close(ctx)
	v.s.unclean = err != nil || ctx.Err() != nil
	v.s.f.telling.flush()
	return err
}

// Attach says how to attach, in JSON.
func (v served) Attach() (json.RawMessage, error) {
	line, ok := attachLine(v.s.server.Identity(), v.Kept)
	switch {
	case ok:
		return line, nil
	case v.s.session.Program().MTLS:
		return nil, &hook.Error{Kind: hook.Usage, Err: &noAttachError{}}
	}
	return nil, &hook.Error{Kind: hook.Unavailable, Err: errors.New("no worker is ready")}
}

// attachLine says how to attach to a plugin: for a gRPC plugin as Terraform has it,
// a host's configuration under the plugin's id; for a functions file by its name and
// socket. ok is false when nobody can just now.
func attachLine(id daemon.Identity, k *runner.Kept) (line json.RawMessage, ok bool) {
	var shape any = struct {
		Schema int    `json:"schema"`
		Name   string `json:"name"`
		Socket string `json:"socket"`
	}{1, id.Name, id.Socket}
	if id.Transport == "grpc" {
		at, ok := k.Attach()
		if !ok {
			return nil, false
		}
		key := id.Name
		if written := k.Session().Plugin().Manifest.ID; written != "" {
			key = written // such as a provider's address
		}
		shape = map[string]runner.Attach{key: at}
	}
	line, err := json.Marshal(shape)
	return line, err == nil
}

// describeLimit is how long a worker that is ready may take to tell its hooks.
const describeLimit = 2 * time.Second

// describe has the worker of a functions file, which does one thing at a time, asked
// for its hooks while it is not busy, so that they can be told when it is.
func describe(ctx context.Context, k *runner.Kept) {
	if k.Session().Settings().Transport == "grpc" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, describeLimit)
	defer cancel()
	_, _ = k.Describe(ctx) // who asks for them is told why not
}

// generations follows the starts of workers until ctx ends: of each that is ready it
// prints how to attach, and knows of which files it is. That is not so with several
// workers, of which the others are older. Who does not read what is printed does not
// end the plugin.
func (s *service) generations(ctx context.Context, k *runner.Kept) {
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
		describe(ctx, k)
		line, ok := attachLine(s.server.Identity(), k)
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
