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
func (w *instance) start(ctx context.Context, started time.Time) (r ready, failed *hook.Error) {
	w.post(newFrame(frameLoad, 0, boot...))
	go w.write() // both end with the process
	go w.read()

	f, failed := w.awaitStartup(ctx, min(helloLimit, w.cfg.StartTimeout), "python did not start")
	if failed != nil {
		return r, failed
	}
	if f.kind == frameHello {
		var h hello
		if err := json.Unmarshal(f.body, &h); err != nil {
			w.proc.Kill()
			return r, pipeError(fmt.Errorf("hello: %w", err), w.Exit())
		}
		w.info = hook.Info{PID: h.PID, Python: h.Python}
		w.cfg.Debug("proc", fmt.Sprintf("hello from python %s after %s", h.Python, time.Since(started)))
		f, failed = w.awaitStartup(ctx, w.cfg.StartTimeout-time.Since(started), "the import did not finish")
		if failed != nil {
			return r, failed
		}
	}
	if f.kind != frameReady {
		w.stop(ctx, func(context.Context) bool { return true }) // the worker ends by itself
		return r, w.loadError(f, w.Exit())
	}
	if err := json.Unmarshal(f.body, &r); err != nil {
		w.proc.Kill()
		return r, pipeError(fmt.Errorf("ready: %w", err), w.Exit())
	}
	w.setFiles(r.Files)
	w.info.Started, w.info.Ready = started, time.Since(started)
	w.cfg.Debug("proc", fmt.Sprintf("ready after %s", w.info.Ready))
	return r, nil
}

// awaitStartup waits for hello, or for the answer to load. what describes the failure if
// the limit is reached.
func (w *instance) awaitStartup(ctx context.Context, limit time.Duration, what string) (frame, *hook.Error) {
	timer := time.NewTimer(max(0, limit))
	defer timer.Stop()
	select {
	case f := <-w.startup:
		return f, nil
	case <-w.lost:
		select {
		case f := <-w.startup: // which came before it ended
			return f, nil
		default:
			return frame{}, w.diedStarting(w.info.Python != "")
		}
	case <-timer.C:
		exit := hook.Exit(w.proc.Kill())
		return frame{}, &hook.Error{Kind: hook.Start, At: stackFrames(exit.Stacks),
			Err: &hook.LimitError{What: what, Limit: w.cfg.StartTimeout}, Hints: schema.Hints("allow more time with %s", schema.Setting("start-timeout"))}
	case <-ctx.Done():
		e := &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
		if w.first {
			e.At = stackFrames(w.proc.Kill().Stacks)
		} else {
			w.stop(ctx, nil)
		}
		return frame{}, e
	}
}
