package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// question is what a client asks, and the key of the result that it needs.
type question struct{ method, params, key string }

// questions are what clients of both eras ask before their first call, in order.
func questions() (all []question) {
	const meta = `{"_meta":{"` + versionKey + `":"` + modern + `","` + capabilitiesKey + `":{}}}`
	for _, version := range legacy {
		all = append(all, question{"initialize", `{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"check","version":"1"}}`, "serverInfo"})
	}
	return append(all, question{"ping", "{}", ""}, question{"tools/list", "{}", "tools"}, question{"server/discover", meta, "supportedVersions"}, question{"tools/list", meta, "tools"})
}

// Ask asks a server of a plugin what clients ask before their first call. It returns the tools, and the list of them that clients get.
func Ask(ctx context.Context, p Plugin, f Filter) (tools []Tool, list json.RawMessage, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	var failure error // of the plugin
	s := New(Options{
		In: in, Out: out, Filter: f, Name: "check", Version: "1",
		Plugin: func(context.Context) (Plugin, error) { return p, nil },
		Kept:   func(context.Context) ([]schema.Hook, bool) { return nil, false },
		Keep:   func([]schema.Hook) {},
		Source: func(context.Context) []schema.Hook { return nil },
		Error: func(err error) *hook.Error {
			failure = err
			return hook.AsError(err)
		},
	})
	go func() { // ends with the input or with ctx
		s.Run(ctx)
		out.Close()
	}()
	defer fromServer.Close()
	defer toServer.Close()
	answers := bufio.NewReader(fromServer)
	for _, q := range questions() {
		result, err := q.ask(toServer, answers)
		switch {
		case failure != nil:
			return nil, nil, failure
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", q.method, err)
		case q.key == "tools":
			list = result
		}
	}
	tools, _ = s.current()
	return tools, list, nil
}

// ask returns the part of the result that a client needs.
func (q question) ask(to io.Writer, from *bufio.Reader) (json.RawMessage, error) {
	line := object("jsonrpc", "2.0", "id", 1, "method", q.method, "params", []byte(q.params))
	if _, err := to.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	text, err := from.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result map[string]json.RawMessage
		Error  *protocolError
	}
	switch err := json.Unmarshal(text, &answer); {
	case err != nil:
		return nil, err
	case answer.Error != nil:
		return nil, answer.Error
	case answer.Result == nil, q.key != "" && answer.Result[q.key] == nil:
		return nil, fmt.Errorf("the answer has no %s", q.key)
	}
	return answer.Result[q.key], nil
}
