package runner

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// calls makes calls in one process of the plugin, for pools and for a [Process].
type calls struct {
	first, last   []hook.Call // the manifest's calls after each start and before each stop
	limit         time.Duration
	carriesErrors bool // results may contain errors, see [callIn]
}

// bootstrap makes the manifest's calls after a start, in order.
func (m calls) bootstrap(ctx context.Context, inst hook.Instance) error {
	for _, c := range m.first {
		if _, err := m.call(ctx, inst, c); err != nil {
			return err
		}
	}
	return nil
}

// shutdown makes the manifest's calls before a stop, in order. It ends early if the process has
// exited or ctx has ended.
func (m calls) shutdown(ctx context.Context, inst hook.Instance) error {
	for _, c := range m.last {
		if ctx.Err() != nil || exited(inst) {
			return nil
		}
		if _, err := m.call(ctx, inst, c); err != nil {
			return err
		}
	}
	return nil
}

// call makes one call in a process. It applies the limit of a call.
func (m calls) call(ctx context.Context, inst hook.Instance, c hook.Call) (hook.Result, error) {
	ctx, cancel := hook.WithLimit(ctx, m.limit)
	defer cancel()
	if m.carriesErrors {
		return callIn(ctx, inst, c)
	}
	return inst.Call(ctx, c)
}

// callIn makes a call in a process whose results can contain errors. The call fails if the result
// or an item contains an error. Such an item ends the stream.
func callIn(ctx context.Context, inst hook.Caller, c hook.Call) (hook.Result, error) {
	emit := c.Emit
	c.Emit = func(item hook.Item) error {
		if carried := carriedError(c.Hook, item); carried != nil {
			return carried
		}
		if emit == nil {
			return nil
		}
		return emit(item)
	}
	r, err := inst.Call(ctx, c)
	if err != nil {
		return r, err
	}
	if carried := carriedError(c.Hook, r.Item); carried != nil {
		return hook.Result{}, carried
	}
	return r, nil
}

// carriedError returns the error in the field "error" of a result. It returns nil if the field is
// missing, null, false or an empty text. If the error is an object, its "message" is the text.
func carriedError(hookName string, item hook.Item) *hook.Error {
	var object map[string]json.RawMessage
	if item.Binary || json.Unmarshal(item.Value, &object) != nil {
		return nil
	}
	text := errorText(object["error"])
	if text == "" {
		return nil
	}
	return &hook.Error{Kind: hook.Failed, Hook: hookName, Begun: true, Err: errors.New(text)}
}

// errorText returns the text of an error, or "".
func errorText(value json.RawMessage) string {
	var text string
	var object map[string]json.RawMessage
	switch {
	case string(value) == "false" || json.Unmarshal(value, &text) == nil:
		return text
	case json.Unmarshal(value, &object) == nil && json.Unmarshal(object["message"], &text) == nil && text != "":
		return text
	}
	return string(value)
}
