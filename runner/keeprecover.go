package runner

import (
	"context"
	"os"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// Recover ends the process of a worker as something outside of pyplug would while a
// call runs in it, and returns when a worker takes calls again: with one worker,
// when the next is ready. The errors are those of [Kept.Call], and of kind
// Unavailable where this plugin's process cannot be ended so.
func (k *Kept) Recover(ctx context.Context) error {
	began := time.Now()
	held, err := k.pool.Lease(ctx) // its end is then one during a call, which follows no delay
	if err != nil {
		return err
	}
	defer held.Close()
	inst := bare(held.Instance())
	if err := crash(inst); err != nil {
		return fail(hook.Unavailable, err)
	}
	select {
	case <-inst.Done():
	case <-ctx.Done():
		return hook.Ended(ctx, "", "the plugin did not end", began, false)
	}
	held.Close()
	next, err := k.pool.Lease(ctx)
	if err != nil {
		return err
	}
	next.Close()
	return nil
}

// Crash ends the process of the first worker that is ready, as something outside
// of pyplug would, whatever it is doing, and does not wait. [os.ErrProcessDone] when
// none is ready.
func (k *Kept) Crash() error {
	if instances := k.ready(); len(instances) > 0 {
		return crash(instances[0])
	}
	return os.ErrProcessDone
}
