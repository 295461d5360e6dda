package grpcplugin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
	"github.com/pyplug/pyplug/runner/settings"
)

// readLimit is how long a finished call waits for a read of its input that is in progress.
const readLimit = 100 * time.Millisecond

// call is a call in progress.
type call struct {
	*Instance
	c        hook.Call
	method   protoschema.Method
	ctx      context.Context // the caller's context
	sending  context.Context // the stream's context, a child of ctx; its cause may be an error of the input
	answered atomic.Bool     // see answeredKey
	sent     bool            // the plugin may have begun
}

// Call calls one method, as described at [hook.Caller]. A method with a client stream receives the
// message of Args, if any, and then the messages of Input. Any other method receives at most one
// message, from Args or from Input. If Input does not end with the call's context, it may be read
// once more after Call has returned. Call drops that message.
func (i *Instance) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	if c.Input == nil {
		c.Input = func(func(json.RawMessage, error) bool) {}
	}
	if i.Exited() || i.stopping.Load() {
		return hook.Result{}, &hook.Error{Kind: hook.Unavailable, Hook: c.Hook, Err: errExited}
	}
	began := time.Now()
	k := &call{Instance: i, c: c, ctx: ctx}
	r, herr := k.run()
	if herr != nil {
		e := *herr
		e.Hook, e.Begun = c.Hook, e.Begun || k.sent
		return hook.Result{}, &e
	}
	r.Took = time.Since(began)
	return r, nil
}

func (k *call) run() (hook.Result, *hook.Error) {
	var herr *hook.Error
	if k.method, herr = k.Instance.method(k.ctx, k.c.Hook); herr != nil {
		return hook.Result{}, herr
	}
	in, out := k.method.Streams()
	request, err := k.arguments()
	if err == nil && !in {
		request, err = k.single(request)
	}
	if err != nil {
		return hook.Result{}, inputError(err)
	}
	if k.ctx.Err() != nil {
		return hook.Result{}, hook.Ended(k.ctx, "", "", false)
	}
	var cancel context.CancelCauseFunc
	k.sending, cancel = context.WithCancelCause(context.WithValue(k.ctx, answeredKey{}, &k.answered))
	defer cancel(nil)
	k.sent = true
	stream, err := k.conn.NewStream(k.sending, &grpc.StreamDesc{ClientStreams: in, ServerStreams: out},
		"/"+k.method.FullName(), grpc.ForceCodecV2(codec{}), grpc.MaxCallRecvMsgSize(k.cfg.MaxMessage))
	if err != nil {
		return hook.Result{}, k.rpcError(err)
	}
	if !in {
		if stream.SendMsg(request) == nil { // otherwise receive returns the reason
			_ = stream.CloseSend() // always nil
		}
		return k.receive(stream, out)
	}
	sent := make(chan struct{})
	go func() { // ends with the stream and after the input's last message
		defer close(sent)
		if err := k.send(stream, request); err != nil {
			cancel(inputError(err))
		}
	}()
	r, herr := k.receive(stream, out)
	cancel(nil)
	hook.Within(sent, readLimit)
	return r, herr
}

// arguments returns the message of Args, or nil if there are no arguments.
func (k *call) arguments() ([]byte, error) {
	args := bytes.TrimSpace(k.c.Args.JSON)
	switch {
	case len(k.c.Args.Words) > 0 && (len(args) == 0 || args[0] == '{'):
		return k.encode(protoschema.BindMessage(k.method, k.c.Args.Words, args))
	case len(args) == 0, bytes.Equal(args, []byte("[]")) && !k.method.OwnJSON():
		return nil, nil
	case args[0] == '{', k.method.OwnJSON():
		return k.encode(protoschema.DecodeMessage(k.method, args))
	case args[0] == '[':
		return nil, errors.New("the arguments are an array, expected an object: the fields of a message have no positions")
	}
	return nil, errors.New("the arguments are not a JSON object")
}

// single returns the only message for a method without a client stream.
func (k *call) single(message []byte) ([]byte, error) {
	for text, err := range k.c.Input {
		if err == nil && message != nil {
			err = errors.New("the input has several messages, expected one: the method does not take a stream")
		}
		if err == nil {
			message, err = k.encode(protoschema.DecodeMessage(k.method, text))
		}
		if err != nil {
			return nil, err
		}
	}
	if message == nil { // send the empty message; an error if it has required fields
		return k.encode(protoschema.BindMessage(k.method, nil, nil))
	}
	return message, nil
}

// encode serializes a message. It returns err unchanged, and rejects a message that is too large.
func (k *call) encode(message proto.Message, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	k.offer(message.ProtoReflect())
	content, err := proto.Marshal(message) // never nil
	if len(content) > k.cfg.MaxMessage {
		return nil, tooLarge(hook.Request, "the request has %d bytes, expected at most %d", len(content), k.cfg.MaxMessage)
	}
	return content, err
}

// send sends a client stream. It returns only errors of the input. receive returns the plugin's
// errors.
func (k *call) send(stream grpc.ClientStream, first []byte) error {
	if first != nil && stream.SendMsg(first) != nil {
		return nil
	}
	number := 0
	for text, err := range k.c.Input {
		if k.sending.Err() != nil {
			return nil
		}
		number++
		var message []byte
		if err == nil {
			message, err = k.encode(protoschema.DecodeMessage(k.method, text))
		}
		if err != nil {
			return fmt.Errorf("input message %d: %w", number, err)
		}
		if stream.SendMsg(message) != nil {
			return nil
		}
	}
	_ = stream.CloseSend() // always nil
	return nil
}

// receive emits the items until the plugin ends the call. It reads the next item only after Emit
// has returned, so that gRPC's window limits the plugin.
func (k *call) receive(stream grpc.ClientStream, out bool) (hook.Result, *hook.Error) {
	for {
		var answer []byte
		err := stream.RecvMsg(&answer)
		if errors.Is(err, io.EOF) {
			return hook.Result{Streamed: true}, nil
		}
		if err != nil {
			return hook.Result{}, k.rpcError(err)
		}
		item, err := k.item(answer)
		if err != nil {
			return hook.Result{}, hook.NewError(hook.Failed, err)
		}
		if !out {
			return hook.Result{Item: item}, nil
		}
		if k.c.Emit == nil {
			continue
		}
		if err := k.c.Emit(item); err != nil {
			return hook.Result{}, cmp.Or(asError(err), &hook.Error{Kind: hook.Canceled, Err: err})
		}
	}
}

// item decodes an answer.
func (k *call) item(content []byte) (hook.Item, error) {
	answer := k.method.NewResponse()
	if err := k.method.Set().Unmarshal(content, answer); err != nil {
		return hook.Item{}, err
	}
	value, err := k.method.Set().EncodeMessage(answer)
	item := hook.Item{Value: value}
	if name, isText := k.method.SoleField(); isText {
		item.Sole = name
	} else if name != "" {
		item.Sole = name + hook.SoleBytes
	}
	return item, err
}

// inputError returns the error for arguments or input that cannot be sent.
func inputError(err error) *hook.Error {
	e := *cmp.Or(asError(err), hook.NewError(hook.Request, err))
	if e.Kind == hook.Request {
		e.Err = err // includes the number of the message
	}
	return &e
}

// rpcError converts gRPC's error to the error of a call.
func (k *call) rpcError(err error) *hook.Error {
	s, answered := status.Convert(err), k.answered.Load()
	fault := asError(context.Cause(k.sending))
	switch {
	case fault != nil && k.ctx.Err() == nil && !answered:
		fault.Unanswered = true // the plugin may have begun with earlier messages
		return fault
	case ranOut(k.ctx, err), k.ctx.Err() != nil && !answered:
		return unanswered(k.ctx, "", true)
	}
	if large := answerTooLarge(s, k.cfg.MaxMessage); large != nil {
		return large
	}
	unimplemented := isUnimplemented(err) && !strings.HasSuffix(s.Message(), ofHost)
	if !answered && !unimplemented {
		return k.lost(s)
	}
	e := &hook.Error{Kind: hook.Failed}
	if unimplemented {
		e.Kind = hook.Request
		e.Err = &schema.NoHookError{Hook: k.c.Hook, Why: "the plugin does not implement " + k.method.Name()}
	}
	if k.cfg.hidesTraceback(s) {
		e.Hints = schema.Hints("call logging.basicConfig() when the plugin starts; grpcio logs the traceback, and hides its log until then")
	}
	return setStatus(e, s, k.method.Set())
}

// lost returns the error for a broken call. It is a crash if the process exits or cannot be reached
// again. Otherwise only this call has failed.
func (k *call) lost(s *status.Status) *hook.Error {
	switch {
	case k.stopping.Load():
		return &hook.Error{Kind: hook.Canceled, Err: errors.New("the plugin was stopped during the call")}
	case k.exits():
		return k.exitError(k.c.Hook)
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
	defer cancel()
	if _, unreachable := k.askHealth(ctx); !unreachable {
		return setStatus(&hook.Error{Kind: hook.Failed}, s, nil)
	}
	return &hook.Error{Kind: hook.Crash,
		Err: errors.New("the connection to the plugin broke: " + strings.TrimPrefix(s.Message(), "grpc: "))}
}

// codec leaves messages as bytes. protoschema decodes them, because proto.Unmarshal may panic on
// malformed bytes, where protoschema returns an error.
type codec struct{}

// Name is the name that servers expect.
func (codec) Name() string { return grpcproto.Name }

// Marshal accepts a []byte.
func (codec) Marshal(message any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(message.([]byte))}, nil
}

// Unmarshal sets a *[]byte.
func (codec) Unmarshal(data mem.BufferSlice, into any) error {
	*into.(*[]byte) = data.Materialize()
	return nil
}

// maxReflection is the largest size of an answer of server reflection. It ignores a MaxMessage
// below the default, which is meant for hooks.
func (c *Config) maxReflection() int { return max(c.MaxMessage, int(settings.Defaults().MaxMessage)) }

// tooLarge returns the error for a message larger than [Config.MaxMessage].
func tooLarge(kind hook.Kind, format string, sizes ...any) *hook.Error {
	return &hook.Error{Kind: kind, Err: fmt.Errorf(format, sizes...), Hints: hook.MessageHints}
}

// answerTooLarge returns an error if the status says that gRPC in pyplug rejected an answer larger
// than the limit, or nil. A plugin in Go uses the same words for a request larger than its own
// limit, but never with pyplug's limit, because pyplug does not send such a request.
func answerTooLarge(s *status.Status, limit int) *hook.Error {
	var size, most int
	_, err := fmt.Sscanf(s.Message(), "grpc: received message larger than max (%d vs. %d)", &size, &most)
	if err != nil || s.Code() != codes.ResourceExhausted || most != limit || size <= most {
		return nil
	}
	return tooLarge(hook.Failed, "the answer has %d bytes, expected at most %d", size, limit)
}
