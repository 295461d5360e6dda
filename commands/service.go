package commands

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

var _ hook.Plugin = (*service)(nil)

// Call calls one hook. The result comes with what a caller should know.
func (s *service) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	r, err := s.Pool.Call(ctx, c)
	if err == nil {
		r.Notes = append(r.Notes, s.notes(noteAge)...)
	}
	return r, err
}

// Status reports how the plugin is, and how to attach to it.
func (s *service) Status(ctx context.Context) (hook.Status, error) {
	st, err := s.Pool.Status(ctx)
	st.Attach = s.attach(st)
	if st.Note == "" && st.Reason == "" {
		st.Note = strings.Join(s.notes(noteAge), "")
	}
	return st, err
}

// Restart replaces the workers by workers of the files as they are now.
func (s *service) Restart(ctx context.Context, reason string) error {
	now, err := s.opened.Snapshot(ctx)
	if err != nil {
		return err
	}
	if err := s.Pool.Restart(ctx, reason); err != nil {
		return err
	}
	s.changes.load(now)
	s.describe(ctx) // before the first call
	return nil
}

// Close drains and stops the plugin, and writes its end into the log. The error is not nil
// if the plugin was killed.
func (s *service) Close(ctx context.Context) error {
	err := s.Pool.Close(ctx)
	s.f.plugin.events.flush()
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// attach says how to attach to a plugin with that status: to a gRPC plugin as Terraform
// has it, a host's configuration under the plugin's id; to a functions file by its name
// and socket. It is nil if nobody can just now.
func (s *service) attach(st hook.Status) json.RawMessage {
	id := s.server.Identity()
	var shape any = struct {
		Schema int         `json:"schema"`
		Name   string      `json:"name"`
		Socket schema.Path `json:"socket"`
	}{1, id.Name, id.Socket}
	if s.opened.Transport().Serves {
		if st.Attach == nil {
			return nil
		}
		key := id.Name
		if written := s.opened.Plugin().Manifest.ID; written != "" {
			key = written // such as a provider's address
		}
		shape = map[string]json.RawMessage{key: st.Attach}
	}
	line, _ := json.Marshal(shape) // text and JSON
	return line
}

// describeLimit is how long a ready worker may take to describe its hooks.
const describeLimit = 2 * time.Second

// describe asks the worker of a functions file for its hooks before it is busy: it does
// one thing at a time, and clients then get the answer even while a call runs.
func (s *service) describe(ctx context.Context) {
	if s.opened.Transport().Serves {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, describeLimit)
	defer cancel()
	all, _ := s.Hooks(ctx, "") // a client that asks for them gets the error
	for _, h := range all.Hooks {
		_, _ = s.Hooks(ctx, h.Name)
	}
}

// followStarts reports every worker that becomes ready, until ctx ends. It notes the files
// as they were when a single worker started; of several workers, others are older.
func (s *service) followStarts(ctx context.Context, events iter.Seq2[hook.Event, error]) {
	silent := s.o.detached || s.o.events == "-" || !s.printAttach(ctx)
	alone := s.opened.KeepSettings().Workers == 1
	seen := s.changes.started
	for e, err := range events {
		switch {
		case err != nil:
			return
		case e.To == hook.StateStarting:
			if now, err := s.opened.Snapshot(ctx); err == nil { // else ctx has ended
				seen = now
			}
		case e.To == hook.StateReady && e.From == hook.StateStarting: // a degraded one is not new
			if alone {
				s.changes.load(seen)
			}
			s.describe(ctx)
			silent = silent || !s.printAttach(ctx)
		}
	}
}

// printAttach prints how to attach, if that is possible just now. It reports whether the
// reader is still there: one that is gone does not end the plugin.
func (s *service) printAttach(ctx context.Context) bool {
	line := s.attach(status(s.Pool))
	if line == nil {
		return true
	}
	err := s.f.write(ctx, func() error { return s.f.streams.Line(string(line)) })
	if err != nil && ctx.Err() == nil && !errors.Is(err, errQuiet) {
		s.f.streams.Warn(err.Error())
	}
	return err == nil
}
