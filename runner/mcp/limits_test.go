package mcp

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// counted is a plugin with one hook, which returns null.
type counted struct{}

func (counted) Hooks(context.Context, schema.Query) (schema.Schema, error) {
	return schema.Schema{Hooks: []schema.Hook{{Name: "f"}}}, nil
}
func (counted) Status(context.Context) (hook.Status, error) { return hook.Status{}, nil }
func (counted) Call(context.Context, hook.Call) (hook.Result, error) {
	return hook.Result{Item: hook.Item{Value: []byte("null")}}, nil
}

// TestLimits checks that over HTTP a request is rejected if too many requests, or requests with too
// many bytes, are in progress, and that an answered request leaves no state.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := New(Options{
		Plugin: func(context.Context) (Plugin, error) { return counted{}, nil },
		Keep:   func([]schema.Hook) {}, Error: hook.AsError,
	})
	call := func() int {
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f"}}`))
		r.Header.Set("Mcp-Session-Id", "x")
		s.ServeHTTP(w, r)
		return w.Code
	}
	for _, c := range []struct{ running, size, want int }{
		{0, 0, 200}, {maxRequests - 1, 0, 200}, {maxRequests, 0, 503}, {0, maxSize - 12, 200}, {0, maxSize - 11, 503},
	} {
		s.running, s.size = c.running, c.size
		if got := call(); got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
		if s.running != c.running || s.size != c.size || len(s.named) > 0 || len(s.listeners) > 0 {
			t.Errorf("%+v: %d requests of %d bytes are left, %v", c, s.running, s.size, s.named)
		}
	}
}
