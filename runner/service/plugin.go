package service

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Call calls one hook. The result comes with what a caller should know.
func (s *Service) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	r, err := s.Pool.Call(ctx, c)
	if err == nil {
		r.Notes = append(r.Notes, s.notes(noteAge)...)
	}
	return r, err
}

// Status reports how the plugin is, and how to attach to it.
func (s *Service) Status(ctx context.Context) (hook.Status, error) {
	st, err := s.Pool.Status(ctx)
	st.Attach = s.attach(st)
	if st.Note == "" && st.Reason == "" {
		st.Note = strings.Join(s.notes(noteAge), "")
	}
	return st, err
}

// status is that of the pool, which never fails.
func (s *Service) status() hook.Status {
	st, _ := s.Pool.Status(context.Background())
	return st
}

// Restart replaces the workers by workers of the files as they are now.
func (s *Service) Restart(ctx context.Context, reason string) error {
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
func (s *Service) Close(ctx context.Context) error {
	err := s.Pool.Close(ctx)
	s.reports.flush()
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// attach says how to attach to a plugin with that status: to a gRPC plugin as Terraform
// has it, a host's configuration under the plugin's id; to a functions file by its name
// and socket. It is nil if nobody can just now.
func (s *Service) attach(st hook.Status) json.RawMessage {
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
func (s *Service) describe(ctx context.Context) {
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
func (s *Service) followStarts(ctx context.Context, events iter.Seq2[hook.Event, error]) {
	silent := s.host.Attach == nil || !s.printAttach(ctx)
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

// printAttach reports how to attach, if that is possible just now. It returns whether the
// reader is still there: one that is gone does not end the plugin.
func (s *Service) printAttach(ctx context.Context) bool {
	line := s.attach(s.status())
	if line == nil {
		return true
	}
	err := s.host.Attach(ctx, string(line))
	if err != nil && ctx.Err() == nil {
		s.host.Warn(err)
	}
	return err == nil
}
