package runner

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/pool"
	"github.com/pyplug/pyplug/runner/proc"
)

// leastDrain is the minimum time that the calls of a replaced worker get to finish.
const leastDrain = 2 * time.Minute

// Start starts the plugin and keeps it alive as [Opened.KeepSettings] say. It returns
// when the first worker is ready. The error is that of the first start, which is not
// retried: of the kinds Interpreter, Start, Handshake, Unhealthy, Internal and
// Canceled, or those of a call if a bootstrap call failed. After an error nothing is
// left.
//
// Each call starts one more pool. All pools of a plugin share what makes a start cheap.
func (o *Opened) Start(ctx context.Context) (*Pool, error) {
	if o.keep.Note != nil && o.lacks != "" {
		o.keep.Note(o.lacks)
	}
	opt, t := o.keep.Options, o.settings.Timeouts
	opt.Bootstrap, opt.Shutdown, opt.CallTimeout = o.Bootstrap(), o.Shutdown(), t.Call
	opt.ProbeTimeout, opt.Drain = t.Probe, max(t.Call, leastDrain)
	opt.MaxMemory, opt.Memory = opt.MaxMemory/5*4, proc.Memory
	opt.Events = o.event
	if field := o.settings.ErrorField; field != "" {
		opt.Call = func(ctx context.Context, inst hook.Caller, c hook.Call) (hook.Result, error) {
			return CallCarrying(ctx, inst, field, c)
		}
	}
	if o.config.Once {
		opt.Probe, opt.MaxMemory = -1, 0
	} else {
		opt.Version = o.files.version
	}
	return pool.Start(ctx, o.launcher.hold(), opt)
}

// event passes on a transition.
func (o *Opened) event(e hook.Event) {
	if o.config.Debug != nil {
		o.config.Debug("state", o.plugin.ID+" is "+string(e.To))
	}
	if o.keep.Events != nil {
		o.keep.Events(e)
	}
}

// Memory returns the resident memory of the plugin's processes and everything below them, in
// bytes; 0 if the system does not report it.
func (o *Opened) Memory() int64 { return proc.TotalMemory() }

// Launcher returns what starts the plugin's processes. The caller makes bootstrap calls and
// restarts, and limits calls. With [Config].Once the processes share nothing.
func (o *Opened) Launcher() hook.Launcher { return o.transport.launcher() }

// Hold keeps what the plugin's pools share until release is called. For a functions file this
// is the process that workers are forked from. Without Hold it ends with the last pool.
func (o *Opened) Hold() (release func(context.Context) error) { return o.launcher.hold().Close }

// launcher is shared by all pools of a plugin. Each launch uses the current files of the
// plugin. It is safe for concurrent use.
type launcher struct {
	hook.Launcher
	opened  *Opened
	version atomic.Int64 // of the plugin's files at the newest launch
	holds   atomic.Int64 // how many use it
}

func newLauncher(o *Opened) *launcher {
	return &launcher{Launcher: o.transport.launcher(), opened: o}
}

// Launch starts one instance, of the files as they are now.
func (l *launcher) Launch(ctx context.Context) (hook.Instance, error) {
	if !l.opened.config.Once {
		if now := int64(l.opened.files.version()); l.version.Swap(now) != now {
			l.Renew() // a zygote has imported older files
		}
		defer l.opened.files.version() // also learn the files that a failed start has imported
	}
	inst, err := l.Launcher.Launch(ctx)
	if started := l.opened.config.Started; err == nil && started != nil {
		started(inst.Info())
	}
	return inst, err
}

// hold returns the launcher for one user of it.
func (l *launcher) hold() *held {
	l.holds.Add(1)
	return &held{launcher: l}
}

// held is one use of the launcher, such as by a pool.
type held struct {
	*launcher
	released atomic.Bool
}

// Close releases what is kept between launches if nobody else uses it.
func (h *held) Close(ctx context.Context) error {
	if h.released.Swap(true) || h.holds.Add(-1) > 0 {
		return nil
	}
	return h.Launcher.Close(ctx)
}

// Pool is a plugin that runs. See [pool.Pool].
type Pool = pool.Pool

// CallCarrying calls a hook. The call fails if the result, or an item, has an error at a path.
// Such an item ends the stream. With an empty path nothing is searched.
func CallCarrying(ctx context.Context, inst hook.Caller, path string, c hook.Call) (hook.Result, error) {
	if path == "" {
		return inst.Call(ctx, c)
	}
	emit := c.Emit
	c.Emit = func(item hook.Item) error {
		if carried := carriedError(path, c.Hook, item.Value); carried != nil {
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
	if carried := carriedError(path, c.Hook, r.Value); carried != nil {
		return hook.Result{}, carried
	}
	return r, nil
}

// carriedError returns the error at a dotted path of a result. It returns nil if there is
// nothing, null, false or an empty text. The text of an object is its "message".
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

// member returns a member of an object, or an element of an array by its number, or nil.
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

// errorText returns the text of an error, or "".
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
