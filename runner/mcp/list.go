package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// load waits for the first start of the plugin, and then for its tools.
func (s *Server) load(ctx context.Context) {
	if p, err := s.o.Plugin(ctx); err == nil {
		_, _ = s.refresh(ctx, p) // a request for the tools gets the error
	}
}

// Reload reads the tools again, since the plugin has loaded other files. ctx is that of the
// session.
func (s *Server) Reload(ctx context.Context, p Plugin) {
	s.mu.Lock()
	s.fresh = false
	s.mu.Unlock()
	_, _ = s.refresh(ctx, p) // else the next request does it
}

// refresh returns the tools of the running plugin. It notifies a client that has another list.
func (s *Server) refresh(ctx context.Context, p Plugin) ([]Tool, error) {
	select {
	case s.refreshing <- struct{}{}: // so that the newest list is the last one
	case <-ctx.Done():
		return nil, hook.Ended(ctx, "", "no list of the tools", false)
	}
	defer func() { <-s.refreshing }()
	sch, err := p.Hooks(ctx, schema.Query{Input: true})
	if err != nil {
		return nil, err
	}
	tools := s.o.Tools(sch.Hooks)
	list := listOf(tools)
	s.mu.Lock()
	s.tools, s.fresh = tools, true
	changed := s.told != nil && !bytes.Equal(s.told, list)
	if changed {
		s.told = list
	}
	s.mu.Unlock()
	if changed {
		s.listChanged()
	}
	s.o.Keep(sch.Hooks)
	return tools, nil
}

// listChanged notifies the client of a session, and those that listen.
func (s *Server) listChanged() {
	s.mu.Lock()
	inSession, listeners := s.session != "", maps.Clone(s.listeners)
	s.mu.Unlock()
	if inSession {
		s.notify("tools/list_changed", []byte("{}"))
	}
	for _, id := range slices.Sorted(maps.Keys(listeners)) {
		if listeners[id] {
			s.notify("tools/list_changed", object("_meta", object(subscriptionKey, json.RawMessage(id))))
		}
	}
}

// list returns the list of tools for a client.
func (s *Server) list(r *request) (json.RawMessage, error) {
	tools, fresh := s.current()
	if !fresh && len(tools) == 0 {
		if hooks, ok := s.o.Kept(r.ctx); ok {
			tools = s.o.Tools(hooks)
		}
	}
	if !fresh && len(tools) == 0 {
		p, err := r.plugin()
		if err == nil {
			tools, err = s.refresh(r.ctx, p)
		} else if hooks := s.o.Source(r.ctx); len(hooks) > 0 {
			tools, err = s.o.Tools(hooks), nil
		}
		if err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tools) > 0 { // it may have become ready meanwhile
		tools = s.tools
	}
	s.told = listOf(tools)
	return s.told, nil
}

func (s *Server) current() (tools []Tool, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools, s.fresh
}

// find returns the tool with a name. The error is a [*protocolError] if there is none.
func (s *Server) find(ctx context.Context, p Plugin, name string) (Tool, error) {
	named := func(t Tool) bool { return t.Name == name }
	tools, fresh := s.current()
	i := slices.IndexFunc(tools, named)
	if !fresh || i < 0 { // the plugin may have been reloaded for this very call
		var err error
		if tools, err = s.refresh(ctx, p); err != nil {
			return Tool{}, err
		}
		i = slices.IndexFunc(tools, named)
	}
	if i < 0 {
		return Tool{}, fault(invalidParams, "Unknown tool: %s; the tools are %s", schema.Short(name), schema.Short(names(tools)))
	}
	return tools[i], nil
}

// acquire waits for a slot for a call. There are as many slots as the plugin runs calls at once.
// release frees the slot.
func (s *Server) acquire(ctx context.Context, p Plugin) error {
	s.slotsOnce.Do(func() {
		st, _ := p.Status(ctx) // without it, one
		s.slots = make(chan struct{}, max(1, st.Concurrency))
	})
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return hook.Ended(ctx, "", "", false)
	}
}

func (s *Server) release() { <-s.slots }
