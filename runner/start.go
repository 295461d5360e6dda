package runner

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/pool"
	"github.com/pyplug/pyplug/runner/proc"
)

// leastDrain is the minimum time that the calls of a replaced worker get to finish.
const leastDrain = 2 * time.Minute

// Start starts the plugin and keeps it alive as the settings of [Opened.Config] say. It returns
// when the first worker is ready. The error is that of the first start, which is not
// retried: of the kinds Interpreter, Start, Handshake, Unhealthy, Internal and
// Canceled, or those of a call if a bootstrap call failed. After an error nothing is
// left.
//
// Each call starts one more pool. All pools of a plugin share what makes a start cheap.
func (o *Opened) Start(ctx context.Context) (*Pool, error) {
	c := o.config
	if c.Note != nil && o.lacks != "" {
		c.Note(o.lacks)
	}
	opt := pool.Options{
		Workers:     c.Workers,
		Concurrency: c.Concurrency,
		Queue:       c.Queue,
		Policy: pool.Policy{
			Restart: c.Restart.Policy, MaxFailures: max(0, c.Restart.Max),
			Backoff: c.Restart.Backoff, BackoffMax: c.Restart.BackoffMax, HealthyAfter: c.Restart.HealthyAfter,
		},
		Patient:      c.Patient,
		MaxCalls:     max(0, c.Limits.Calls),
		MaxAge:       max(0, c.Limits.Age),
		MaxMemory:    max(0, c.Limits.Memory) / 5 * 4, // from four fifths of the limit on, a worker is replaced between calls
		Memory:       proc.Memory,
		Bootstrap:    c.Bootstrap,
		Shutdown:     c.Shutdown,
		CallTimeout:  c.Timeouts.Call,
		Probe:        c.ProbeEvery,
		ProbeTimeout: c.Timeouts.Probe,
		Drain:        max(c.Timeouts.Call, leastDrain),
		Await:        c.Await,
		Events:       o.event,
		Note:         c.Note,
	}
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

// event passes on a transition.
func (o *Opened) event(e hook.Event) {
	if o.config.Debug != nil {
		o.config.Debug("state", o.plugin.ID+" is "+string(e.To))
	}
	if o.config.Events != nil {
		o.config.Events(e)
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
