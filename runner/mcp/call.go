package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// largestResult is the largest size in bytes of all items of a stream, which are a single result.
const largestResult = 64 << 20

// list answers tools/list.
func (r *request) list() {
	var params struct {
		Cursor string `json:"cursor"`
	}
	if r.Params != nil {
		if err := read(r.Params, &params, invalidParams, "params", "an object, with a text as its cursor"); err != nil {
			r.fail(err)
			return
		}
	}
	if params.Cursor != "" {
		r.fail(fault(invalidParams, "cursor is %q, but the list has one page", schema.Short(params.Cursor)))
		return
	}
	tools, err := r.s.list(r)
	if err != nil {
		r.fail(fault(internalError, "%s", errorText(r.s.o.Error(err))))
		return
	}
	pairs := []any{"tools", tools}
	if r.isModern {
		pairs = append(pairs, "ttlMs", 0, "cacheScope", "private")
	}
	r.result(pairs...)
}

// call answers tools/call.
func (r *request) call() {
	var params struct {
		Name      *string         `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := read(r.Params, &params, invalidParams, "params", "an object with a text as its name"); err != nil {
		r.fail(err)
		return
	}
	switch {
	case params.Name == nil:
		r.fail(fault(invalidParams, "name is missing, expected the name of a tool"))
		return
	case params.Arguments == nil || string(params.Arguments) == "null":
		params.Arguments = json.RawMessage("{}")
	case params.Arguments[0] != '{':
		r.fail(fault(invalidParams, "arguments is %s, expected an object", schema.Short(string(params.Arguments))))
		return
	}
	p, err := r.plugin()
	var tool Tool
	if err == nil {
		tool, err = r.s.find(r.ctx, p, *params.Name)
	}
	if unknown, ok := err.(*protocolError); ok {
		r.fail(unknown)
		return
	}
	if err == nil {
		err = r.s.acquire(r.ctx, p)
	}
	if err != nil {
		r.failed(err)
		return
	}
	defer r.s.release()
	var c content
	res, err := p.Call(r.ctx, hook.Call{Hook: tool.Hook.Name, Args: hook.Args{JSON: params.Arguments, Valid: true}, Emit: func(item hook.Item) error {
		r.notify(string(textOf(item)))
		return c.add(item, tool.Hook.Name)
	}})
	if err == nil && !res.Streamed {
		err = c.add(res.Item, tool.Hook.Name)
	}
	if err != nil {
		r.failed(err)
		return
	}
	if len(res.Notes) > 0 { // such as that the file was edited and does not start
		c.endText()
		c.texts = []string{"note: " + strings.Join(res.Notes, "\nnote: ")}
	}
	pairs := []any{"content", c.blocks()}
	if isObject := !res.Streamed && !res.Binary && len(res.Value) > 0 && res.Value[0] == '{'; isObject {
		pairs = append(pairs, "structuredContent", res.Value)
	}
	r.result(pairs...)
}

// failed answers with an error of the plugin that the model can read.
func (r *request) failed(err error) {
	text := object("type", "text", "text", errorText(r.s.o.Error(err)))
	r.result("content", slices.Concat([]byte("["), text, []byte("]")), "isError", true)
}

// content is the content of a result. Consecutive texts are lines of one block.
type content struct {
	done  [][]byte
	texts []string // the texts of the block that has not ended
	size  int
}

// add adds a result or an item.
func (c *content) add(item hook.Item, hookName string) error {
	if c.size += len(item.Value); c.size > largestResult && c.size > len(item.Value) {
		return &hook.Error{Kind: hook.Failed, Hook: hookName, Begun: true, Err: fmt.Errorf("the items are larger than %d MB together", largestResult>>20)}
	}
	switch {
	case item.Binary:
		c.endText()
		c.done = append(c.done, blob(item, hookName))
	case string(item.Value) == "null":
	default:
		c.texts = append(c.texts, string(textOf(item)))
	}
	return nil
}

func (c *content) endText() {
	if c.texts != nil {
		c.done = append(c.done, object("type", "text", "text", strings.Join(c.texts, "\n")))
	}
	c.texts = nil
}

// blocks returns the content as a JSON array.
func (c *content) blocks() []byte {
	c.endText()
	return slices.Concat([]byte("["), bytes.Join(c.done, []byte(",")), []byte("]"))
}

// textOf returns the text of a string, or the JSON of any other value.
func textOf(item hook.Item) []byte {
	if !item.Binary && item.Value[0] == '"' {
		return schema.Unquote(item.Value)
	}
	return item.JSON()
}

// blob returns the content for bytes: an image, audio, or a resource.
func blob(item hook.Item, hookName string) []byte {
	start, value := item.Value, item.JSON()
	kind, mediaType := "", ""
	switch {
	case bytes.HasPrefix(start, []byte("\x89PNG\r\n\x1a\n")):
		kind, mediaType = "image", "image/png"
	case bytes.HasPrefix(start, []byte("\xff\xd8\xff")):
		kind, mediaType = "image", "image/jpeg"
	case bytes.HasPrefix(start, []byte("RIFF")) && len(start) >= 12 && string(start[8:12]) == "WAVE":
		kind, mediaType = "audio", "audio/wav"
	default:
		resource := object("uri", "pyplug://result/"+hookName, "mimeType", "application/octet-stream", "blob", value)
		return object("type", "resource", "resource", resource)
	}
	return object("type", kind, "data", value, "mimeType", mediaType)
}

// maxLines is the number of lines of standard error in an error.
const maxLines = 8

// errorText returns an error as text for a model: the problem, its place, and the last output of a
// process that ended.
func errorText(e *hook.Error) string {
	lines := []string{e.Error()}
	if e.Exit != nil {
		lines[0] += " (" + strings.Join(slices.DeleteFunc([]string{e.Exit.String(), e.Exit.Limit}, func(s string) bool { return s == "" }), ", ") + ")"
	}
	for _, line := range e.Details(lines[0], "") {
		lines = append(lines, "  "+line)
	}
	if e.Exit != nil {
		lines = append(lines, e.Exit.Stderr[max(0, len(e.Exit.Stderr)-maxLines):]...)
	}
	for _, hint := range hook.Words(e.Hints) {
		lines = append(lines, "hint: "+hint)
	}
	return strings.ToValidUTF8(strings.Join(lines, "\n"), "\uFFFD")
}
