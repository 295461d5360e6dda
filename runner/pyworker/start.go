package pyworker

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// helloLimit is the time that a Python may take to start the worker.
const helloLimit = 30 * time.Second

// hello is the body of the worker's first frame.
type hello struct {
	Python string `json:"python"`
	PID    int    `json:"pid"`
}

// ready is the body of the frame that says that the file is loaded.
type ready struct {
	Files  []schema.Path `json:"files"`
	Zygote bool          `json:"zygote"` // the process is a zygote
	Exec   string        `json:"exec"`   // why it is not one, although load asked for it
}

// start lets the worker begin and waits until it is ready. After an error, no process of
// it is left.
func (inst *instance) start(ctx context.Context, started time.Time) (r ready, failed *hook.Error) {
	inst.post(newFrame(frameLoad, 0, boot...))
	go inst.write() // both end with the process
	go inst.read()

	f, failed := inst.awaitStartup(ctx, min(helloLimit, inst.cfg.StartTimeout), "python did not start")
	if failed != nil {
		return r, failed
	}
	if f.kind == frameHello {
		var h hello
		if err := json.Unmarshal(f.body, &h); err != nil {
			inst.proc.Kill()
			return r, pipeError(fmt.Errorf("hello: %w", err), inst.Exit())
		}
		inst.info = hook.Info{PID: h.PID, Python: h.Python}
		inst.cfg.Debug("proc", fmt.Sprintf("hello from python %s after %s", h.Python, time.Since(started)))
		f, failed = inst.awaitStartup(ctx, inst.cfg.StartTimeout-time.Since(started), "the import did not finish")
		if failed != nil {
			return r, failed
		}
	}
	if f.kind != frameReady {
		inst.stop(ctx, func(context.Context) bool { return true }) // the worker ends by itself
		return r, inst.loadError(f, inst.Exit())
	}
	if err := json.Unmarshal(f.body, &r); err != nil {
		inst.proc.Kill()
		return r, pipeError(fmt.Errorf("ready: %w", err), inst.Exit())
	}
	inst.setFiles(r.Files)
	inst.info.Started, inst.info.Ready = started, time.Since(started)
	inst.cfg.Debug("proc", fmt.Sprintf("ready after %s", inst.info.Ready))
	return r, nil
}

// awaitStartup waits for hello, or for the answer to load. what describes the failure if
// the limit is reached.
func (inst *instance) awaitStartup(ctx context.Context, limit time.Duration, what string) (frame, *hook.Error) {
	timer := time.NewTimer(max(0, limit))
	defer timer.Stop()
	select {
	case f := <-inst.startup:
		return f, nil
	case <-inst.lost:
		select {
		case f := <-inst.startup: // which came before it ended
			return f, nil
		default:
			return frame{}, inst.diedStarting(inst.info.Python != "")
		}
	case <-timer.C:
		exit := hook.Exit(inst.proc.Kill())
		return frame{}, &hook.Error{Kind: hook.Start, At: stackFrames(exit.Stacks),
			Err: &hook.LimitError{What: what, Limit: inst.cfg.StartTimeout}, Hints: schema.Hints("allow more time with %s", schema.Setting("start-timeout"))}
	case <-ctx.Done():
		e := &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
		if inst.first {
			e.At = stackFrames(inst.proc.Kill().Stacks)
		} else {
			inst.stop(ctx, nil)
		}
		return frame{}, e
	}
}
