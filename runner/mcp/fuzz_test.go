package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/mcp"
	"github.com/pyplug/pyplug/runner/schema"
)

// FuzzClient checks that, whatever a client sends, the session ends with its input, each line of
// the output is a message, and a later ping is answered.
func FuzzClient(f *testing.F) {
	for _, sent := range []string{
		initialize + "\n" + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"text","arguments":{"text":"\ud800"},"_meta":{"progressToken":1}}}`,
		`{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + meta + `}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}` + "\n[{}]\n{\"id\":{}}",
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}` + "\n[" + initialize + ",1]",
		"\xff\x00\n{\"id\":null}\n[[[[", `{"JSONRPC":"2.0","ID":1e400,"method":"ping","params":{"_meta":null}}`,
	} {
		f.Add([]byte(sent))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		var out bytes.Buffer
		o := options(&fake{hooks: []schema.Hook{text}, call: echo})
		const ping = "\n" + `{"jsonrpc":"2.0","id":"the last","method":"ping"}` + "\n"
		o.In, o.Out = io.MultiReader(bytes.NewReader(sent), strings.NewReader(ping)), &out
		mcp.New(o).Run(context.Background())
		pinged := false
		for line := range strings.Lines(out.String()) {
			var messages []map[string]json.RawMessage
			if line[0] != '[' {
				line = "[" + line + "]"
			}
			if err := json.Unmarshal([]byte(line), &messages); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			for _, m := range messages {
				if string(m["jsonrpc"]) != `"2.0"` || (m["result"] == nil) == (m["error"] == nil) && m["method"] == nil {
					t.Errorf("no message: %s", line)
				}
				pinged = pinged || string(m["id"]) == `"the last"`
			}
		}
		if !pinged {
			t.Errorf("the ping is not answered: %q", out.String())
		}
	})
}

// FuzzHTTP checks that the handler answers every POST, and that each answer with a body is a
// message.
func FuzzHTTP(f *testing.F) {
	for _, sent := range []string{
		initialize, rpc("tools/call", `"name":"text","_meta":{"progressToken":1}`), rpc("subscriptions/listen", `"notifications":{"toolsListChanged":true},`+meta),
		rpc("nope", meta), `[{}]`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "\ufeff\x00",
	} {
		f.Add(sent, both, modern, "tools/call", "=?base64?dGV4dA==?=")
		f.Add(sent, "*/*;q=0,text/*", "", "", "")
	}
	f.Fuzz(func(t *testing.T, body, accept, version, method, name string) {
		s := mcp.New(options(&fake{hooks: []schema.Hook{text}, call: counting}))
		s.End() // ends subscriptions
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		for key, value := range map[string]string{"Accept": accept, "Mcp-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": name, "Mcp-Session-Id": name} {
			r.Header.Set(key, value)
		}
		s.ServeHTTP(w, r)
		got, isEvents := w.Body.String(), w.Header().Get("Content-Type") == "text/event-stream"
		if isEvents == (w.Header().Get("Content-Type") == "application/json") && got != "" || (got == "") != (w.Code == 202) {
			t.Fatalf("got %d %q %v", w.Code, got, w.Header())
		}
		for line := range strings.Lines(got) {
			var m map[string]json.RawMessage
			if line = strings.TrimSpace(line); isEvents {
				line = strings.TrimPrefix(line, "data: ")
			}
			if err := json.Unmarshal([]byte(line), &m); line != "" && (err != nil || string(m["jsonrpc"]) != `"2.0"`) {
				t.Errorf("%q: %v", line, err)
			}
		}
	})
}
