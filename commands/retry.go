package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/schema"
)

// retryKinds lists the errors after which a repeated call may succeed. The first, an error of the
// hook itself, is not in the default.
var retryKinds = []string{string(hook.Failed), string(hook.Crash), string(hook.Timeout), string(hook.Unavailable)}

// retryOptions say which failed calls are repeated.
type retryOptions struct {
	lines.Retries
	kinds []string // as typed
}

func (o *retryOptions) flags() cmdline.Flags {
	return cmdline.Flags{
		cmdline.Count(&o.Max, 0, 100, "retries", "repeat a call up to `N` times if its error is in --retry-on"),
		cmdline.List(&o.kinds, "retry-on", "with --retries, retry errors of these `KINDS` (default: crash,timeout,unavailable)", retryKinds),
	}
}

// resolve sets the errors after which a call is repeated.
func (o *retryOptions) resolve() error {
	if len(o.kinds) > 0 && o.Max == 0 {
		return cmdline.Usage("--retry-on applies only with --retries")
	}
	kinds := o.kinds
	if len(kinds) == 0 {
		kinds = retryKinds[1:]
	}
	for _, kind := range kinds {
		o.On = append(o.On, hook.Kind(kind))
	}
	return nil
}

// wait waits for the delay before a repeated call. made is the number of calls so far, and err the
// error of the last one. again is false if the call must not be repeated, or if ctx ends. If ctx
// ends, the error is its cause.
func (o *retryOptions) wait(ctx context.Context, made int, err error) (again bool, _ error) {
	delay, again := o.Delay(made, hook.AsError(err))
	if again && hook.Within(ctx.Done(), delay) {
		return false, context.Cause(ctx)
	}
	return again, err
}

// hinted adds to the error of a call the reason why it was not repeated.
func (o *retryOptions) hinted(err error) error {
	if hint := o.hint(hook.AsError(err)); !hint.IsZero() {
		return cmdline.Hinted(err, hint)
	}
	return err
}

// hint returns a hint to repeat calls after errors of this kind, too, if --retries is set and
// --retry-on could list the kind but does not. Otherwise it returns the zero hint.
func (o *retryOptions) hint(err *hook.Error) schema.Hint {
	kind := string(err.Kind)
	if o.Max == 0 || slices.Contains(o.On, err.Kind) || !slices.Contains(retryKinds, kind) {
		return schema.Hint{}
	}
	return schema.Hintf("retry errors of kind %s, too, with %s %s", kind, schema.CallSetting("retry-on"), strings.Join(append(slices.Clone(o.kinds), kind), ","))
}
