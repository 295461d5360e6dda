package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// question is a request of a client, and the key of the part of its result that is needed.
type question struct{ method, params, key string }

// questions returns the requests of modern and legacy clients before their first call, in order.
func questions() (all []question) {
	const meta = `{"_meta":{"` + versionKey + `":"` + modern + `","` + capabilitiesKey + `":{}}}`
	for _, version := range legacy {
		all = append(all, question{"initialize", `{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"check","version":"1"}}`, "serverInfo"})
	}
	return append(all, question{"ping", "{}", ""}, question{"tools/list", "{}", "tools"}, question{"server/discover", meta, "supportedVersions"}, question{"tools/list", meta, "tools"})
}

// Ask sends a server of the plugin the requests that clients send before their first call. It
// returns the tools, and the list of tools that clients get.
func Ask(ctx context.Context, p Plugin, f Filter) (tools []Tool, list json.RawMessage, err error) {
	var out bytes.Buffer
	var failure error // the error of the plugin
	s := New(Options{
		Out: &out, Filter: f, Name: "check", Version: "1",
		Plugin: func(context.Context) (Plugin, error) { return p, nil },
		Kept:   func(context.Context) ([]schema.Hook, bool) { return nil, false },
		Keep:   func([]schema.Hook) {},
		Source: func(context.Context) []schema.Hook { return nil },
		Error: func(err error) *hook.Error {
			failure = err
			return hook.AsError(err)
		},
	})
	client := s.newSession()
	for _, q := range questions() {
		out.Reset()
		client.handle(ctx, object("jsonrpc", "2.0", "id", 1, "method", q.method, "params", []byte(q.params)), client.write)
		client.requests.Wait()
		var answer struct {
			Result map[string]json.RawMessage `json:"result"`
			Error  *protocolError             `json:"error"`
		}
		err := json.Unmarshal(out.Bytes(), &answer)
		switch {
		case failure != nil:
			return nil, nil, failure
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", q.method, err)
		case answer.Error != nil:
			return nil, nil, fmt.Errorf("%s: %w", q.method, answer.Error)
		case q.key != "" && answer.Result[q.key] == nil:
			return nil, nil, fmt.Errorf("%s: the answer has no %s", q.method, q.key)
		case q.key == "tools":
			list = answer.Result[q.key]
		}
	}
	tools, _ = s.current()
	return tools, list, nil
}
