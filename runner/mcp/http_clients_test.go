package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/mcp"
	"github.com/pyplug/pyplug/runner/schema"
)

// TestHTTPClients checks that many concurrent clients get their own answers, even if they send the
// same session id and request id.
func TestHTTPClients(t *testing.T) {
	t.Parallel()
	s := mcp.New(options(&fake{hooks: []schema.Hook{text}, call: func(ctx context.Context, c hook.Call) (hook.Result, error) {
		_ = c.Emit(hook.Item{Value: c.Args.JSON})
		return hook.Result{Streamed: true}, nil
	}}))
	server := httptest.NewServer(s)
	defer server.Close()
	client := server.Client()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			for j := range 10 {
				want := fmt.Sprintf(`{\"n\":%d}"}]}}`, 10*i+j)
				r := request(t.Context(), rpc("tools/call", fmt.Sprintf(`"name":"text","arguments":{"n":%d},"_meta":{"progressToken":%d}`, 10*i+j, j)), "Mcp-Session-Id", "shared")
				r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", server.Listener.Addr().String()
				res, err := client.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				events := 0
				var last string
				for lines := bufio.NewScanner(res.Body); lines.Scan(); {
					if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
						events, last = events+1, text
					}
				}
				res.Body.Close()
				if events != 2 || !strings.HasSuffix(last, want) {
					t.Errorf("got %d events, the last is %s, want %s", events, last, want)
				}
			}
		})
	}
	all.Wait()
}

// TestHTTPOfficialClient checks that the official client lists and calls in every version with this
// transport.
func TestHTTPOfficialClient(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25", modern} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(mcp.New(options(&fake{hooks: []schema.Hook{text}, call: echo})))
			defer server.Close()
			cs, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
				Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: server.URL, HTTPClient: server.Client()}, &sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
			if got := cs.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("the version is %s", got)
			}
			called, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "text", Arguments: map[string]any{"text": "x"}})
			if err != nil || called.IsError || fmt.Sprint(called.StructuredContent) != "map[text:x]" {
				t.Errorf("got %+v, %v", called, err)
			}
			listed, err := cs.ListTools(t.Context(), nil)
			if err != nil || len(listed.Tools) != 1 {
				t.Errorf("got %+v, %v", listed, err)
			}
			if _, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "nope"}); err == nil {
				t.Error("an unknown tool is no error")
			}
		})
	}
}

// BenchmarkHTTPCall measures a call over HTTP.
func BenchmarkHTTPCall(b *testing.B) {
	server := httptest.NewServer(mcp.New(options(&fake{hooks: []schema.Hook{text}, call: echo})))
	defer server.Close()
	for b.Loop() {
		r := request(b.Context(), rpc("tools/call", `"name":"text"`))
		r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", server.Listener.Addr().String()
		res, err := server.Client().Do(r)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
}
