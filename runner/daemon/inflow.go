package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/pyplug/pyplug/runner/wire"
)

// inflow is the input of a call, as it comes through the socket. The connection
// puts frames in, the call takes them out.
type inflow struct {
	grant func(n int) // tells the client that n bytes were taken
	wake  chan struct{}

	mu    sync.Mutex
	items [][]byte
	under int // bytes that wait, or were taken and not yet granted again
	owed  int // bytes of those that were taken
	over  bool
	fault error
}

// inputError says what was wrong with the input, on the client's side.
type inputError struct{ text string }

func (e *inputError) Error() string { return e.text }

func newInflow(grant func(int)) *inflow {
	return &inflow{grant: grant, wake: make(chan struct{}, 1)}
}

// take is called for each frame of the input. The error is that of a client which
// does not keep to the protocol.
func (in *inflow) take(f wire.Frame) error {
	if in == nil {
		return fmt.Errorf("an item for call %d, which has no input", f.Call)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.over:
		return errors.New("an item behind the end of the input")
	case f.Type == wire.End:
		in.over = true
		if len(f.Body) > 0 {
			in.fault = &inputError{string(f.Body)}
		}
	case in.under > 0 && in.under+wire.ItemSize(len(f.Body)) > wire.Window:
		return fmt.Errorf("call %d has more than %d bytes of input under way", f.Call, wire.Window)
	default:
		in.under += wire.ItemSize(len(f.Body))
		in.items = append(in.items, f.Body)
	}
	select {
	case in.wake <- struct{}{}:
	default:
	}
	return nil
}

// all are the items until the input is over, or ctx ends.
func (in *inflow) all(ctx context.Context) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for {
			item, over, err := in.next()
			switch {
			case err != nil:
				yield(nil, err)
				return
			case item != nil:
				if !yield(item, nil) {
					return
				}
			case over:
				return
			default:
				select {
				case <-in.wake:
				case <-ctx.Done():
					yield(nil, context.Cause(ctx))
					return
				}
			}
		}
	}
}

// next takes an item out; none, and no error, when there is none now.
func (in *inflow) next() (item []byte, over bool, err error) {
	in.mu.Lock()
	if len(in.items) == 0 {
		defer in.mu.Unlock()
		return nil, in.over, in.fault
	}
	item = in.items[0]
	in.items = in.items[1:]
	in.owed += wire.ItemSize(len(item))
	grant := 0
	if len(in.items) == 0 || in.owed >= wire.Window/8 {
		grant, in.owed = in.owed, 0 // as many small ones come together
		in.under -= grant
	}
	in.mu.Unlock()
	if grant > 0 {
		in.grant(grant)
	}
	if item == nil {
		item = []byte{} // an item it is
	}
	return item, false, nil
}
