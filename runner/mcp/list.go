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
		_, _ = s.refresh(ctx, p) // the next request for the tools gets the error
	}
}

// Reload reads the tools again, because the plugin has loaded other files. It notifies clients that
// have another list. It stops when ctx ends.
func (s *Server) Reload(ctx context.Context, p Plugin) {
	s.mu.Lock()
	s.fresh = false
	s.mu.Unlock()
	_, _ = s.refresh(ctx, p) // if this fails, the next request reads the tools
}

// refresh returns the tools of the running plugin. It notifies clients that have another list.
func (s *Server) refresh(ctx context.Context, p Plugin) ([]Tool, error) {
	select {
	case s.refreshing <- struct{}{}: // one refresh at a time, so that the newest list is the last
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
	s.tools, s.listed, s.fresh = tools, list, true
	changed := s.told != nil && !bytes.Equal(s.told, list)
	var notify []*listener
	if changed {
		s.told, notify = list, slices.Collect(maps.Keys(s.listeners))
	}
	s.mu.Unlock()
	for _, l := range notify {
		l.notify()
	}
	s.o.Keep(sch.Hooks)
	return tools, nil
}

// list returns the list of tools for a client. On standard input, a notification corrects a list
// that proves to be stale. Over HTTP there may be no notification, so the plugin is asked.
func (s *Server) list(r *request) (json.RawMessage, error) {
	tools, fresh := s.current()
	if !fresh && len(tools) == 0 {
		if hooks, ok := s.o.Kept(r.ctx); ok {
			tools = s.o.Tools(hooks)
		}
	}
	if r.isStateless || !fresh && len(tools) == 0 {
		known := tools
		p, err := r.plugin()
		if err == nil {
			tools, err = s.refresh(r.ctx, p)
		} else if hooks := s.o.Source(r.ctx); len(hooks) > 0 {
			tools, err = s.o.Tools(hooks), nil
		}
		switch {
		case err != nil && len(known) == 0:
			return nil, err
		case err != nil:
			tools = known
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tools) > 0 { // the plugin may have become ready meanwhile
		s.told = s.listed
	} else {
		s.told = listOf(tools)
	}
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
	if !fresh || i < 0 { // this call may have reloaded the plugin
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

// acquire waits for a slot for a call. The number of slots is the number of calls that the plugin
// runs at once. release frees the slot.
func (s *Server) acquire(ctx context.Context, p Plugin) error {
	slots := s.slotsOf(nil)
	if slots == nil {
		st, _ := p.Status(ctx) // without a status, there is one slot
		if ctx.Err() == nil {
			slots = s.slotsOf(&st)
		}
	}
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return hook.Ended(ctx, "", "", false)
	}
}

// slotsOf returns the slots. The first call with a status creates them. Before that, slotsOf
// returns nil.
func (s *Server) slotsOf(st *hook.Status) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slots == nil && st != nil {
		s.slots = make(chan struct{}, max(1, st.Concurrency))
	}
	return s.slots
}

func (s *Server) release() { <-s.slots }
