package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/wire"
)

// outflow is the input of a call, on its way to the daemon.
type outflow struct {
	mu    sync.Mutex
	fault error // what the input itself said
}

// feed sends a call's input, as far as the daemon takes it. done ends that: it is
// called when the call is over.
func (c *Client) feed(ctx context.Context, a *asked, input iter.Seq2[json.RawMessage, error]) (o *outflow, done func()) {
	o = new(outflow)
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() { // ends with ctx, and with the item that is being read
		defer close(over)
		end := c.items(ctx, a, input, o)
		if ctx.Err() == nil {
			_ = c.write(ctx, wire.Append(nil, wire.End, a.number, []byte(end)))
		}
	}()
	return o, func() {
		cancel()
		limit := time.NewTimer(inputLimit)
		defer limit.Stop()
		select {
		case <-over:
		case <-limit.C:
		}
	}
}

// items sends the items. The text is what was wrong with the input.
func (c *Client) items(ctx context.Context, a *asked, input iter.Seq2[json.RawMessage, error], o *outflow) string {
	for item, err := range input {
		if err == nil && len(item) > wire.MaxBody {
			err = fmt.Errorf("it takes %d bytes, at most %d are sent", len(item), wire.MaxBody)
		}
		if err != nil {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.fault = err
			return err.Error()
		}
		for !a.claim(wire.ItemSize(len(item))) {
			select {
			case <-a.credit:
			case <-ctx.Done():
				return ""
			}
		}
		if c.write(ctx, wire.Append(nil, wire.Item, a.number, item)) != nil {
			return ""
		}
	}
	return ""
}

// explain gives an error that is the input's its cause.
func (o *outflow) explain(e *hook.Error, body []byte) {
	var told hook.Told
	if o == nil || json.Unmarshal(body, &told) != nil || !told.Input {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if cause := (*hook.ToldError)(nil); errors.As(e, &cause) {
		cause.Err = o.fault
	}
}

// fileOf is what the file holds that a word names; named is false when it names
// none. Some words turn out to name one only where the plugin's fields are known:
// theirs is read here already, unless it is standard input, which can be read but
// once.
func fileOf(w schema.Word) (content []byte, named bool) {
	if w.Name == "" && w.Form == schema.Plain {
		if !strings.Contains(w.Typed, "@=") && !strings.Contains(w.Typed, ":=@") || strings.HasSuffix(w.Typed, "-") {
			return nil, false
		}
		again, err := w.Respell(func(name string) bool { return name != "" })
		if err != nil {
			return nil, false
		}
		w = again
	}
	switch w.Form {
	case schema.FileText:
		return []byte(w.Value), true
	case schema.JSON:
		return []byte(w.Value), strings.HasPrefix(w.Typed[len(w.Name):], ":=@")
	}
	return nil, false
}
