package runner

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

// CallCarrying calls a hook whose result, and whose items, may carry an error at a
// path: then the call failed. An empty path is none. An item that carries an error ends
// the stream.
func CallCarrying(ctx context.Context, inst hook.Caller, path string, c hook.Call) (hook.Result, error) {
	if path == "" {
		return inst.Call(ctx, c)
	}
	if emit := c.Emit; emit != nil {
		c.Emit = func(item hook.Item) error {
			if carried := carriedError(path, c.Hook, item.Value); carried != nil {
				return carried
			}
			return emit(item)
		}
	}
	r, err := inst.Call(ctx, c)
	if err != nil {
		return r, err
	}
	if carried := carriedError(path, c.Hook, r.Value); carried != nil {
		return hook.Result{}, carried
	}
	return r, nil
}

// carriedError is the error that a result carries at a dotted path. It is nil if
// nothing is there, or null, false or an empty text. The text of an object is its
// "message".
func carriedError(path, hookName string, value json.RawMessage) *hook.Error {
	for _, name := range strings.Split(path, ".") {
		value = member(value, name)
	}
	text := errorText(value)
	if text == "" {
		return nil
	}
	return &hook.Error{Kind: hook.Failed, Hook: hookName, Begun: true, Err: errors.New(text)}
}

// member is a member of an object, or an element of an array by its number; nil
// when there is none.
func member(value json.RawMessage, name string) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) == nil {
		return object[name]
	}
	var array []json.RawMessage
	if n, err := strconv.Atoi(name); err == nil && json.Unmarshal(value, &array) == nil && n >= 0 && n < len(array) {
		return array[n]
	}
	return nil
}

// errorText is an error's text; empty if there is none.
func errorText(value json.RawMessage) string {
	var text string
	var object struct{ Message string }
	switch {
	case string(value) == "false" || json.Unmarshal(value, &text) == nil:
		return text
	case json.Unmarshal(value, &object) == nil && object.Message != "":
		return object.Message
	}
	return string(value)
}
