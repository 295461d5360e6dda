package runner

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/pool"
	"github.com/pyplug/pyplug/runner/proc"
)

// leastDrain is the minimum time that the calls of a replaced worker get to finish.
const leastDrain = 2 * time.Minute

// Start starts the plugin and keeps it alive as Keep of [Opened.Config] says. It returns
// when the first worker is ready. The error is that of the first start, which is not
// retried: of the kinds Interpreter, Start, Handshake, Unhealthy, Internal and
// Canceled, or those of a call if a bootstrap call failed. After an error nothing is
// left.
//
// Each call starts one more pool. All pools of a plugin share what makes a start cheap.
func (o *Opened) Start(ctx context.Context) (*Pool, error) {
	opt, t := o.config.Keep.Options, o.config.Timeouts
	if opt.Note != nil && o.lacks != "" {
		opt.Note(o.lacks)
	}
	opt.Bootstrap, opt.Shutdown, opt.CallTimeout = o.Bootstrap(), o.Shutdown(), t.Call
	opt.ProbeTimeout, opt.Drain = t.Probe, max(t.Call, leastDrain)
	opt.MaxMemory, opt.Memory = opt.MaxMemory/5*4, proc.Memory
	opt.Events = o.event
	if o.plugin.Manifest.CarriesErrors {
		opt.Call = o.Call
	}
	if o.config.Once {
		opt.Probe, opt.MaxMemory = -1, 0
	} else {
		opt.Version = o.files.version
	}
	o.launcher.pools.Add(1)
	return pool.Start(ctx, o.launcher, opt)
}

// Pool is a plugin that runs. See [pool.Pool].
type Pool = pool.Pool

// Bootstrap returns the calls that are made after every start, in order.
func (o *Opened) Bootstrap() []hook.Call { return hookCalls(o.plugin.Manifest.Bootstrap) }

// Shutdown returns the calls that are made before the plugin is stopped, in order.
func (o *Opened) Shutdown() []hook.Call { return hookCalls(o.plugin.Manifest.Shutdown) }

func hookCalls(calls []manifest.HookCall) []hook.Call {
	made := make([]hook.Call, len(calls))
	for i, c := range calls {
		made[i] = hook.Call{Hook: c.Hook, Args: hook.Args{JSON: c.Args}}
	}
	return made
}

// event passes on a transition.
func (o *Opened) event(e hook.Event) {
	if o.config.Debug != nil {
		o.config.Debug("state", o.plugin.ID+" is "+string(e.To))
	}
	if o.config.Keep.Events != nil {
		o.config.Keep.Events(e)
	}
}

// Memory returns the resident memory of the plugin's processes and everything below them, in
// bytes; 0 if the system does not report it.
func (o *Opened) Memory() int64 { return proc.TotalMemory() }

// Launcher returns what starts the plugin's processes. The caller makes bootstrap calls and
// restarts, and limits calls. With [Config].Once the processes share nothing.
func (o *Opened) Launcher() hook.Launcher { return o.launcher }

// Call calls a hook of one of the plugin's processes. The call fails if the result, or an item, has an
// error and the manifest says that results carry errors. Such an item ends the stream.
func (o *Opened) Call(ctx context.Context, inst hook.Caller, c hook.Call) (hook.Result, error) {
	if !o.plugin.Manifest.CarriesErrors {
		return inst.Call(ctx, c)
	}
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

// carriedError returns the error in the field "error" of a result. It returns nil if there is
// nothing, null, false or an empty text. The text of an object is its "message".
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

// Shutdown releases what this process keeps for all its plugins. Call it after the last
// of them is closed.
func Shutdown() { proc.Close() }

// Lacks returns what this system does not support, or "".
func Lacks() string { return proc.Lacks() }
