package grpcplugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

const (
	// readLimit is how long a call that is over waits for its input to return the
	// message that it was reading.
	readLimit = 100 * time.Millisecond
	// minSilence is how long a plugin may at least be silent after a cancelled call.
	minSilence = 200 * time.Millisecond
)

// call is a call in progress.
type call struct {
	*Instance
	hook.Call
	method    protoschema.Method
	set       *protoschema.Descriptors
	codec     *codec
	began     time.Time
	ctx       context.Context // the caller's
	answered  answered
	cancelled bool // gRPC told the plugin to stop working on the call

	mu    sync.Mutex
	fault *hook.Error // why sending ended the call
}

// Call calls one method. See [hook.Caller] for the promises. A method with a client
// stream receives the message of Args, if there is one, and then those of Input;
// another one at most one message from either. An Input that does not end with the
// call's context may be read once more after Call has returned; that message is
// dropped.
func (i *Instance) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	began := time.Now()
	if err := i.begin(ctx, c.Hook); err != nil {
		return hook.Result{}, err
	}
	k := &call{Instance: i, Call: c, began: began, ctx: ctx}
	defer func() { i.finish(k.cancelled, k.silence()) }()
	r, herr := k.run()
	if herr != nil {
		return hook.Result{}, herr
	}
	r.Took = time.Since(began)
	return r, nil
}

// silence is how long the plugin may be silent after the call was cancelled: a
// quarter of the call's limit, so that the calls that wait for the result of the
// probe do not lose all of theirs, and no longer than any probe.
func (k *call) silence() time.Duration {
	deadline, ok := k.ctx.Deadline()
	if !ok {
		return probeLimit
	}
	return min(max(deadline.Sub(k.began)/4, minSilence), probeLimit)
}

func (k *call) run() (hook.Result, *hook.Error) {
	var herr *hook.Error
	if k.method, k.set, herr = k.Instance.method(k.ctx, k.Hook); herr != nil {
		return hook.Result{}, herr
	}
	k.codec = newCodec(k.set)
	streams := k.method.Streams()
	in, out := streams != "" && streams != "out", streams != "" && streams != "in"
	request, err := k.arguments()
	if err == nil && !in {
		request, err = k.single(request)
	}
	if err != nil {
		return hook.Result{}, k.rejected(err)
	}
	if k.ctx.Err() != nil {
		return hook.Result{}, hook.Ended(k.ctx, k.Hook, "", k.began, false)
	}
	ctx, cancel := context.WithCancel(withAnswered(outgoing(k.ctx, k.cfg.Metadata), &k.answered))
	defer cancel()
	stream, err := k.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: in, ServerStreams: out},
		"/"+k.method.FullName(), k.options(k.codec)...)
	if err != nil {
		return hook.Result{}, k.failure(err)
	}
	if !in {
		if stream.SendMsg(request) == nil { // else receive returns the reason
			_ = stream.CloseSend() // always nil
		}
		return k.receive(stream, out)
	}
	sent := make(chan struct{})
	go func() { // ends with the stream, and with the input's last message
		defer close(sent)
		if err := k.send(ctx, stream, request); err != nil {
			k.mu.Lock()
			k.fault = k.rejected(err)
			k.mu.Unlock()
			cancel()
		}
	}()
	r, herr := k.receive(stream, out)
	cancel()
	select {
	case <-sent:
	case <-time.After(readLimit):
	}
	return r, herr
}

// arguments returns the message of Args, or nil without arguments.
func (k *call) arguments() (message proto.Message, err error) {
	args := bytes.TrimSpace(k.Args.JSON)
	switch {
	case len(k.Args.Words) > 0:
		message, err = protoschema.BindMessage(k.method, k.Args.Words)
	case len(args) == 0, bytes.Equal(args, []byte("[]")) && !k.method.OwnJSON():
		return nil, nil
	case args[0] == '{', k.method.OwnJSON():
		message, err = protoschema.DecodeMessage(k.method, args)
	case args[0] == '[':
		return nil, errors.New("the arguments are an array, want an object: the fields of a message have no positions")
	default:
		return nil, errors.New("the arguments are not a JSON object")
	}
	if err != nil {
		return nil, err
	}
	return message, k.tooLarge(message)
}

// single returns the one message for a method without a client stream.
func (k *call) single(message proto.Message) (proto.Message, error) {
	if k.Input != nil {
		for text, err := range k.Input {
			if err == nil && message != nil {
				err = errors.New("the input has several messages, want one: the method does not take a stream")
			}
			if err == nil {
				message, err = k.decode(text)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if message == nil { // empty, unless it has required fields
		return protoschema.BindMessage(k.method, nil)
	}
	return message, nil
}

func (k *call) decode(text json.RawMessage) (proto.Message, error) {
	message, err := protoschema.DecodeMessage(k.method, text)
	if err != nil {
		return nil, err
	}
	return message, k.tooLarge(message)
}

// send sends a client stream. Its errors are the caller's: receive returns those of
// the plugin.
func (k *call) send(ctx context.Context, stream grpc.ClientStream, first proto.Message) error {
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
				message, err = k.decode(text)
			}
			if err != nil {
				return fmt.Errorf("input message %d: %w", number, err)
			}
			if stream.SendMsg(message) != nil {
				return nil
			}
		}
	}
	_ = stream.CloseSend() // always nil
	return nil
}

// receive passes the items on until the plugin ends the call. It reads none while it
// passes one on: gRPC's window is the backpressure.
func (k *call) receive(stream grpc.ClientStream, out bool) (hook.Result, *hook.Error) {
	all := []byte{'['}
	emit := k.Emit
	if emit == nil {
		emit = func(item hook.Item) error {
			if len(all) > 1 {
				all = append(all, ',')
			}
			all = append(all, item.Value...)
			return nil
		}
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
			return hook.Result{}, k.failed(err)
		}
		if !out {
			return hook.Result{Item: item}, nil
		}
		if err := emit(item); err != nil {
			return hook.Result{}, k.notEmitted(err)
		}
	}
	r := hook.Result{Streamed: true}
	if k.Emit == nil {
		r.Value = append(all, ']')
	}
	return r, nil
}

// item is a message as a value.
func (k *call) item(answer proto.Message) (hook.Item, error) {
	value, err := k.encode(k.set, answer)
	item := hook.Item{Value: value}
	if text, isText, ok := protoschema.SoleText(answer); ok {
		item.Sole = &hook.Sole{Text: string(text), Binary: !isText}
	}
	return item, err
}

// rejected is the error for arguments or input that cannot be sent.
func (k *call) rejected(err error) *hook.Error {
	if own := asError(err); own != nil {
		e := *own
		e.Hook = k.Hook
		return &e
	}
	e := hook.NewError(hook.Request, err)
	e.Hook = k.Hook
	return e
}

// failed is the error for an answer that cannot be used.
func (k *call) failed(err error) *hook.Error {
	e := hook.NewError(hook.Failed, err)
	e.Hook, e.Begun = k.Hook, true
	return e
}

// notEmitted is the error if the receiver of the items cancels the call.
func (k *call) notEmitted(err error) *hook.Error {
	k.cancelled = true
	e := &hook.Error{Kind: hook.Canceled, Err: err}
	if own := asError(err); own != nil {
		copied := *own
		e = &copied
	}
	e.Hook, e.Begun = k.Hook, true
	return e
}

// failure is the error for one of gRPC.
func (k *call) failure(err error) *hook.Error {
	if k.codec.err != nil {
		return k.failed(k.codec.err)
	}
	k.mu.Lock()
	fault := k.fault
	k.mu.Unlock()
	s, answered := status.Convert(err), k.answered.Load()
	switch {
	case fault != nil && !answered:
		return fault
	case ranOut(k.ctx, s.Code()), k.ctx.Err() != nil && !answered:
		k.cancelled = true
		return hook.Ended(k.ctx, k.Hook, "", k.began, true)
	}
	if large := answerTooLarge(s, k.cfg.MaxMessage); large != nil {
		return k.failed(large)
	}
	if !answered {
		return k.lost(s)
	}
	e := &hook.Error{Kind: hook.Failed, Hook: k.Hook, Begun: true}
	if s.Code() == codes.Unimplemented {
		e.Kind = hook.Request
		e.Err = &schema.NoHookError{Hook: k.Hook, Why: "the plugin does not implement " + k.method.Name()}
	}
	return setStatus(e, s, k.set)
}

// lost is the error for a broken connection. It is a crash only if the process
// exits; if the plugin still responds, this call alone has failed.
func (k *call) lost(s *status.Status) *hook.Error {
	e := &hook.Error{Hook: k.Hook, Begun: true}
	switch {
	case k.isStopping():
		e.Kind, e.Err = hook.Canceled, errStoppedInCall
	case k.exitsWithin(exitLimit):
		return k.exitError(k.Hook)
	case k.Probe(context.Background()) == nil:
		e.Kind = hook.Failed
		return setStatus(e, s, nil)
	default:
		k.killUnresponsive()
		e.Kind, e.Err = hook.Crash, errors.New("the connection to the plugin broke: "+ownText(s))
	}
	return e
}
