package pyworker

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// helloLimit is the maximum time in which Python must start the worker.
const helloLimit = 30 * time.Second

// about is the worker's report on its start: the bodies of hello and ready.
type about struct {
	Python string        `json:"python"`
	PID    int           `json:"pid"`
	Files  []schema.Path `json:"files"`
	Zygote bool          `json:"zygote"` // the process is a zygote
	Exec   string        `json:"exec"`   // why it is not a zygote, although pyplug asked for one
}

// start lets the worker begin and waits until it is ready. If it returns an error, the process is
// gone.
func (inst *instance) start(ctx context.Context) *hook.Error {
	inst.post(newFrame(frameLoad, 0, boot...))
	go inst.write() // both goroutines end with the process
	go inst.read()

	l := inst.launcher
	limit, what := min(helloLimit, l.cfg.StartTimeout), "python did not start"
	for kind := byte(frameHello); kind != frameReady; {
		f, failed := inst.awaitStartup(ctx, limit, what)
		if failed != nil {
			return failed
		}
		if kind = f.kind; kind == frameError {
			inst.stop(ctx, func(context.Context) bool { return true }) // the worker ends by itself
			return inst.loadError(f, inst.Exit())
		}
		if err := json.Unmarshal(f.body, &inst.about); err != nil {
			inst.proc.Kill()
			return pipeError(fmt.Errorf("a frame of type %c: %w", kind, err), inst.Exit())
		}
		if kind == frameHello {
			l.cfg.Debug("proc", fmt.Sprintf("hello from python %s after %s", inst.about.Python, time.Since(inst.began)))
		}
		limit, what = l.cfg.StartTimeout-time.Since(inst.began), "the import did not finish"
	}
	l.addFiles(inst.about.Files)
	l.imported.Store(true)
	inst.ready = time.Since(inst.began)
	l.cfg.Debug("proc", fmt.Sprintf("ready after %s", inst.ready))
	return nil
}

// awaitStartup waits for hello, or for the answer to load. The parameter what describes the failure
// if the limit is reached.
func (inst *instance) awaitStartup(ctx context.Context, limit time.Duration, what string) (frame, *hook.Error) {
	timer := time.NewTimer(max(0, limit))
	defer timer.Stop()
	select {
	case f := <-inst.startup:
		return f, nil
	case <-inst.lost:
		select {
		case f := <-inst.startup: // the frame came before the process ended
			return f, nil
		default:
			return frame{}, inst.diedStarting(inst.about.Python != "")
		}
	case <-timer.C:
		exit := hook.Exit(inst.proc.Kill())
		return frame{}, &hook.Error{Kind: hook.Start, At: stackFrames(exit.Stacks),
			Err: &hook.LimitError{What: what, Limit: inst.launcher.cfg.StartTimeout}, Hints: schema.Hints("allow more time with %s", schema.Setting("start-timeout"))}
	case <-ctx.Done():
		e := &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
		if !inst.launcher.imported.Load() { // report where the import is
			e.At = stackFrames(inst.proc.Kill().Stacks)
		} else {
			inst.stop(ctx, nil)
		}
		return frame{}, e
	}
}
