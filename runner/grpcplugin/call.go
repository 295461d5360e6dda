package grpcplugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

const (
	// lostLimit is how long a process may take to be gone after its connection
	// broke.
	lostLimit = 2 * time.Second
	// readLimit is how long a call that is over waits for its input to give
	// the message that was asked for last.
	readLimit = 100 * time.Millisecond
)

// call is one call under way.
type call struct {
	*Instance
	hook.Call
	method protoschema.Method
	set    *protoschema.Descriptors
	codec  *codec
	began  time.Time
	ctx    context.Context // the caller's
	said   answered
	// interrupted tells that the plugin was told to give the call up.
	interrupted bool

	mu    sync.Mutex
	fault *hook.Error // what ended the call on our side
}

// Call calls one method. See [hook.Caller] for the promises. A method that takes
// a stream gets the messages of Input, after that of Args if there is one; one
// that does not takes at most one message from either. An Input that does not
// end with the call's context may be read once more after Call has returned;
// that message is dropped.
func (i *Instance) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	began := time.Now()
	if err := i.begin(); err != nil {
		return hook.Result{}, &hook.Error{Kind: hook.Unavailable, Hook: c.Hook, Err: err}
	}
	k := &call{Instance: i, Call: c, began: began, ctx: ctx}
	defer func() {
		i.finish()
		if k.interrupted {
			go i.afterInterrupt(k.patience()) // ends within that
		}
	}()
	r, herr := k.run()
	if herr != nil {
		return hook.Result{}, herr
	}
	return r, nil
}

func (k *call) run() (hook.Result, *hook.Error) {
	var herr *hook.Error
	if k.method, k.set, herr = k.Instance.method(k.ctx, k.Hook); herr != nil {
		return hook.Result{}, herr
	}
	k.codec = newCodec(k.set)
	first, err := k.request(k.method, k.Args)
	if err == nil && first != nil {
		err = k.tooLarge(first)
	}
	if err != nil {
		return hook.Result{}, k.refused(err)
	}
	if k.ctx.Err() != nil {
		return hook.Result{}, hook.Ended(k.ctx, k.Hook, "no result", k.began, false)
	}
	streams := k.method.Streams()
	if streams == "" {
		return k.unary(first)
	}
	return k.stream(first, streams != "out", streams != "in")
}

// single is the one message of a method that takes no stream.
func (k *call) single(first proto.Message) (proto.Message, error) {
	if k.Input != nil {
		for text, err := range k.Input {
			if err != nil {
				return nil, err
			}
			if first != nil {
				return nil, errors.New("several messages are given, want one: the method takes no stream")
			}
			if first, err = protoschema.DecodeMessage(k.method, text); err != nil {
				return nil, err
			}
			if err = k.tooLarge(first); err != nil {
				return nil, err
			}
		}
	}
	if first == nil { // an empty message, unless it has fields that are required
		return protoschema.BindMessage(k.method, nil)
	}
	return first, nil
}

func (k *call) unary(first proto.Message) (hook.Result, *hook.Error) {
	request, err := k.single(first)
	if err != nil {
		return hook.Result{}, k.refused(err)
	}
	answer := k.method.NewResponse()
	err = k.conn.Invoke(watched(k.outgoing(k.ctx), &k.said), "/"+k.method.FullName(), request, answer,
		k.options(k.codec)...)
	if err != nil {
		return hook.Result{}, k.failure(err)
	}
	item, err := k.item(answer)
	if err != nil {
		return hook.Result{}, k.failed(err)
	}
	return hook.Result{Item: item, Took: time.Since(k.began)}, nil
}

// stream makes a call with a stream in at least one direction.
func (k *call) stream(first proto.Message, in, out bool) (hook.Result, *hook.Error) {
	ctx, cancel := context.WithCancel(watched(k.outgoing(k.ctx), &k.said))
	defer cancel()
	stream, err := k.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: in, ServerStreams: out},
		"/"+k.method.FullName(), k.options(k.codec)...)
	if err != nil {
		return hook.Result{}, k.failure(err)
	}
	sent := make(chan struct{})
	go func() { // ends with the stream, and with the input's last message
		defer close(sent)
		if err := k.send(ctx, stream, first, in); err != nil {
			k.giveUp(k.refused(err))
			cancel()
		}
	}()
	r, herr := k.receive(stream, cancel, out)
	cancel()
	if k.Input == nil {
		<-sent
		return r, herr
	}
	limit := time.NewTimer(readLimit)
	defer limit.Stop()
	select {
	case <-sent:
	case <-limit.C:
	}
	return r, herr
}

// send sends what there is to send. Its errors are the caller's: what the
// plugin answers is told to receive.
func (k *call) send(ctx context.Context, stream grpc.ClientStream, first proto.Message, in bool) error {
	if !in {
		request, err := k.single(first)
		if err != nil {
			return err
		}
		if stream.SendMsg(request) == nil {
			_ = stream.CloseSend() // its only error is none
		}
		return nil
	}
	if first != nil && stream.SendMsg(first) != nil {
		return nil
	}
	if k.Input != nil {
		number := 0
		for text, err := range k.Input {
			if ctx.Err() != nil {
				return nil
			}
			number++
			var message proto.Message
			if err == nil {
				message, err = protoschema.DecodeMessage(k.method, text)
			}
			if err == nil {
				err = k.tooLarge(message)
			}
			if err != nil {
				return fmt.Errorf("input message %d: %w", number, err)
			}
			if stream.SendMsg(message) != nil {
				return nil
			}
		}
	}
	_ = stream.CloseSend() // its only error is none
	return nil
}

// receive passes the items on until the call is answered. While an item is
// passed on, none is read: gRPC's window is the backpressure.
func (k *call) receive(stream grpc.ClientStream, cancel func(), out bool) (hook.Result, *hook.Error) {
	all := new(collector)
	emit := k.Emit
	if emit == nil {
		emit = all.take
	}
	for {
		answer := k.method.NewResponse()
		err := stream.RecvMsg(answer)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return hook.Result{}, k.failure(err)
		}
		item, err := k.item(answer)
		if err != nil {
			cancel()
			return hook.Result{}, k.failed(err)
		}
		if !out {
			return hook.Result{Item: item, Took: time.Since(k.began)}, nil
		}
		if err := emit(item); err != nil {
			cancel()
			return hook.Result{}, k.notEmitted(err)
		}
	}
	r := hook.Result{Streamed: true, Took: time.Since(k.began)}
	if k.Emit == nil {
		r.Value = all.value()
	}
	return r, nil
}

// giveUp notes why our side ends the call.
func (k *call) giveUp(e *hook.Error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fault == nil {
		k.fault = e
	}
}

func (k *call) ownFault() *hook.Error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.fault
}
