package service

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/mcp"
	"github.com/pyplug/pyplug/runner/metrics"
	"github.com/pyplug/pyplug/runner/schema"
)

// attach returns the JSON that says how to attach to a plugin with the status st, or nil if that is
// impossible now. For a gRPC plugin it is a host's configuration under the plugin's id, in
// Terraform's form. For a functions file, or for a plugin that listens over TCP, it is an
// [attachment].
func (s *Service) attach(st hook.Status) json.RawMessage {
	id := s.server.Identity()
	own := attachment{Schema: 1, Name: id.Name, Socket: id.Socket}
	var shape any = &own
	if s.Transport().Serves {
		if st.Attach == nil {
			return nil
		}
		key := id.Name
		if written := s.Plugin.Manifest.ID; written != "" {
			key = written // for example a provider's address
		}
		own.Reattach = map[string]json.RawMessage{key: st.Attach}
		shape = own.Reattach
	}
	if s.access != nil {
		own.URLs, own.Who = s.access.URLs(), s.access.Who()
		shape = &own
	}
	line, _ := json.Marshal(shape) // text and JSON can always be encoded
	return line
}

// attachment says how to call a plugin.
type attachment struct {
	Schema   int                        `json:"schema"`
	Name     string                     `json:"name"`
	Socket   schema.Path                `json:"socket"`
	URLs     []string                   `json:"urls,omitempty"`     // the URLs over TCP
	Who      string                     `json:"access,omitempty"`   // who may call over TCP
	Reattach map[string]json.RawMessage `json:"reattach,omitempty"` // in Terraform's form, only for a gRPC plugin
}

// metrics returns the status and the calls in the text format of Prometheus.
func (s *Service) metrics(st hook.Status) []byte {
	return s.calls.Append(nil, metrics.Plugin{Name: s.name, Status: &st})
}

// newMCP returns a server of the hooks as tools, for clients over TCP.
func (s *Service) newMCP() *mcp.Server {
	limited := hook.Limited{Plugin: s, Limit: s.Keeper.Config.Timeouts.Call}
	return mcp.New(mcp.Options{
		Name: cmp.Or(s.o.Name, s.Plugin.ID), Version: s.o.Version, Instructions: runner.Docstring(s.Plugin), Filter: mcp.Filter{Hints: mcp.Hints(s.Plugin.Manifest.MCP)},
		Plugin: func(context.Context) (mcp.Plugin, error) { return limited, nil },
		Kept:   func(context.Context) ([]schema.Hook, bool) { return nil, false },
		Keep:   func([]schema.Hook) {},
		Source: func(context.Context) []schema.Hook { return nil },
		Error:  func(err error) *hook.Error { return daemon.Public(hook.AsError(err)) },
	})
}
