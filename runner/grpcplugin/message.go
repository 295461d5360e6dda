package grpcplugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// implementedMethod is by which a service says which of its methods it has.
const implementedMethod = "Implemented"

// method finds the method that a hook names.
func (i *Instance) method(ctx context.Context, name string) (protoschema.Method, *protoschema.Descriptors, *hook.Error) {
	set, by, herr := i.descriptors(ctx)
	if herr != nil {
		herr.Hook = name
		return protoschema.Method{}, nil, herr
	}
	m, err := set.Find(name)
	if err == nil {
		return m, set, nil
	}
	if none := (*schema.NoHookError)(nil); errors.As(err, &none) && by == "" {
		none.Why = "the plugin serves no reflection, and nothing else describes its methods"
	}
	return m, nil, &hook.Error{Kind: hook.Request, Hook: name, Err: err}
}

// request makes the message that a call's arguments say; nil when there are no
// arguments.
func (i *Instance) request(m protoschema.Method, args hook.Args) (proto.Message, error) {
	given := bytes.TrimSpace(args.JSON)
	switch {
	case len(args.Words) > 0:
		return protoschema.BindMessage(m, args.Words)
	case len(given) == 0:
		return nil, nil
	case given[0] == '{', m.OwnJSON():
		return protoschema.DecodeMessage(m, given)
	case bytes.Equal(given, []byte("[]")):
		return nil, nil
	case given[0] == '[':
		return nil, errors.New("the arguments are an array, want an object: a message has no positions")
	}
	return nil, errors.New("the arguments are no JSON object")
}

// tooLarge refuses a message before it is sent.
func (i *Instance) tooLarge(message proto.Message) error {
	if size := proto.Size(message); size > i.cfg.MaxMessage {
		return &SizeError{Size: size, Limit: i.cfg.MaxMessage}
	}
	return nil
}

// answerTooLarge is the error for a status by which our gRPC refused to read an
// answer over our limit, nil for others. A plugin in Go says the same of a request
// over its own limit, but not with our numbers: a request over our limit is not
// sent.
func answerTooLarge(s *status.Status, limit int) error {
	e := SizeError{Answer: true}
	_, err := fmt.Sscanf(s.Message(), "grpc: received message larger than max (%d vs. %d)", &e.Size, &e.Limit)
	if err != nil || s.Code() != codes.ResourceExhausted || e.Limit != limit || e.Size <= e.Limit {
		return nil
	}
	return &e
}

// encode writes an answer as JSON.
func (i *Instance) encode(set *protoschema.Descriptors, answer proto.Message) (json.RawMessage, error) {
	return protoschema.EncodeMessage(answer, protoschema.EncodeOptions{EmitDefaults: i.cfg.EmitDefaults, Descriptors: set})
}

// item is an answer as it is told.
func (k *call) item(answer proto.Message) (hook.Item, error) {
	value, err := k.encode(k.set, answer)
	item := hook.Item{Value: value}
	if text, isText, ok := protoschema.SoleText(answer); ok {
		item.Sole = &hook.Sole{Text: string(text), Binary: !isText}
	}
	return item, err
}

// encodeDetail writes a detail of a status, or says what it is when it cannot.
func encodeDetail(d *protoschema.Descriptors, detail *anypb.Any) json.RawMessage {
	text, err := protoschema.EncodeMessage(detail, protoschema.EncodeOptions{Descriptors: d})
	if err != nil {
		text, _ = json.Marshal(map[string]any{"@type": detail.GetTypeUrl(), "value": detail.GetValue()}) // always marshals
	}
	return text
}

// outgoing adds the metadata of every call.
func (i *Instance) outgoing(ctx context.Context) context.Context {
	if pairs := i.cfg.Metadata; len(pairs) >= 2 {
		return metadata.AppendToOutgoingContext(ctx, pairs[:len(pairs)&^1]...)
	}
	return ctx
}

// markImplemented asks each service that has Implemented which of its methods
// the plugin implements, and marks the hooks. A service that does not answer
// leaves its hooks unmarked.
func (i *Instance) markImplemented(ctx context.Context, set *protoschema.Descriptors, s schema.Schema) {
	methods := set.Methods() // one for each of the hooks, in their order
	for _, m := range methods {
		if string(m.FullName()[len(service(m)):]) != "/"+implementedMethod || m.Streams() != "" {
			continue
		}
		names, ok := i.implemented(ctx, set, m)
		if !ok {
			continue
		}
		for n, other := range methods {
			if service(other) == service(m) && other.FullName() != m.FullName() {
				has := names[other.FullName()[len(service(other))+1:]]
				s.Hooks[n].Implemented = &has
			}
		}
	}
}

// service is the full name of a method's service.
func service(m protoschema.Method) string {
	full := m.FullName()
	for n := range full {
		if full[n] == '/' {
			return full[:n]
		}
	}
	return full
}

// implemented asks a service for the names of its methods: the one list of
// strings in its answer.
func (i *Instance) implemented(ctx context.Context, set *protoschema.Descriptors, m protoschema.Method) (map[string]bool, bool) {
	ctx, cancel := context.WithTimeout(i.outgoing(ctx), probeLimit)
	defer cancel()
	answer := m.NewResponse()
	if err := i.conn.Invoke(ctx, "/"+m.FullName(), m.NewRequest(), answer, i.options(newCodec(set))...); err != nil {
		i.cfg.debug("grpc", m.FullName()+": "+err.Error())
		return nil, false
	}
	text, err := i.encode(set, answer)
	if err != nil {
		return nil, false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return nil, false
	}
	found := map[string]bool{}
	lists := 0
	for _, field := range fields {
		var names []string
		if json.Unmarshal(field, &names) == nil {
			lists++
			for _, name := range names {
				found[name] = true
			}
		}
	}
	return found, lists == 1 || len(fields) == 0
}

// collector makes one JSON array of a stream's items.
type collector struct{ bytes.Buffer }

func (c *collector) take(item hook.Item) error {
	if c.Len() == 0 {
		c.WriteByte('[')
	} else {
		c.WriteByte(',')
	}
	c.Write(item.Value)
	return nil
}

func (c *collector) value() json.RawMessage {
	if c.Len() == 0 {
		return json.RawMessage("[]")
	}
	c.WriteByte(']')
	return c.Bytes()
}

// Template is an empty request of a method as JSON, to be filled in. Errors are
// those of a call that was not sent.
func (i *Instance) Template(ctx context.Context, name string) ([]byte, error) {
	m, _, herr := i.method(ctx, name)
	if herr != nil {
		return nil, herr
	}
	return m.Template(), nil
}
