package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/mcp"
	"github.com/pyplug/pyplug/runner/schema"
)

// Whatever a client sends, the session ends with its input, each line of the output is a message,
// and a ping behind it is answered.
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
