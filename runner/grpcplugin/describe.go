package grpcplugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

const (
	// reflectLimit bounds server reflection, so that time is left for the files.
	reflectLimit = 5 * time.Second
	// implementedMethod lists which of its methods a service implements.
	implementedMethod = "Implemented"
)

// descriptors returns the plugin's methods and messages, and finds them out once.
func (i *Instance) descriptors(ctx context.Context) (*protoschema.Descriptors, *hook.Error) {
	began := time.Now()
	select {
	case i.describing <- struct{}{}:
	case <-ctx.Done():
		return nil, hook.Ended(ctx, "", "no description", false)
	}
	defer func() { <-i.describing }()
	if i.methods == nil {
		set, err := i.discover(ctx)
		if ctx.Err() != nil && err != nil {
			return nil, hook.Ended(ctx, "", "no description", false)
		}
		if err != nil {
			return nil, i.notDescribed(err)
		}
		i.methods = set
		i.cfg.Debug("grpc", fmt.Sprintf("%d methods described after %s", len(set.Methods()), time.Since(began)))
	}
	return i.methods, nil
}

// discover asks server reflection, else the plugin's files, and adds what the user
// named.
func (i *Instance) discover(ctx context.Context) (*protoschema.Descriptors, error) {
	within, cancel := context.WithTimeout(ctx, reflectLimit)
	defer cancel()
	reflected, err := reflectFiles(within, i.conn)
	var sources []protoschema.Source
	switch {
	case err == nil && len(reflected.Files) > 0:
		sources = append(sources, reflected)
	case ranOut(within, err):
		err = &hook.Error{Kind: hook.Timeout, Err: &hook.LimitError{What: "no answer of " + reflectionName, Limit: reflectLimit}}
	}
	if len(sources) == 0 && i.sources != nil {
		// If there are files, or what the user named, a reflection service that fails does
		// not matter.
		files, filesErr := hook.Interruptible(ctx, i.sources)
		if err == nil || len(files) > 0 {
			sources, err = files, filesErr
		}
	}
	if err != nil && (ctx.Err() != nil || len(i.cfg.Extra) == 0) {
		return nil, err
	}
	return protoschema.MergeDescriptors(append(slices.Clip(sources), i.cfg.Extra...)...)
}

// notDescribed is the error for a failed discover.
func (i *Instance) notDescribed(err error) *hook.Error {
	s, isStatus := status.FromError(err)
	switch own := asError(err); {
	case own != nil:
		return own
	case isStatus && i.exitsWithin(exitLimit):
		return i.exitError("")
	case isStatus:
		err := fmt.Errorf("%s: %w", reflectionName, statusError(s))
		if large := answerTooLarge(s, i.cfg.maxReflection()); large != nil {
			err = fmt.Errorf("%s: %w", reflectionName, large)
		}
		return setStatus(hook.NewError(hook.Failed, err), s, nil)
	}
	e := hook.NewError(hook.Request, err)
	if e.Reason == protoschema.Disagree && len(i.cfg.Extra) > 0 {
		e.Hints = append(e.Hints, "or leave out --proto or --protoset")
	}
	return e
}

// method finds the method that a hook names.
func (i *Instance) method(ctx context.Context, name string) (protoschema.Method, *protoschema.Descriptors, *hook.Error) {
	set, herr := i.descriptors(ctx)
	if herr != nil {
		herr.Hook = name
		return protoschema.Method{}, nil, herr
	}
	m, err := set.Find(name)
	if err == nil {
		return m, set, nil
	}
	e := hook.NewError(hook.Request, err)
	e.Hook = name
	if none := (*schema.NoHookError)(nil); errors.As(err, &none) && len(set.Methods()) == 0 {
		none.Why = "the plugin serves no reflection, and nothing else describes its methods"
		e.Hints = []string{"--proto FILE describes its methods, and so does grpcio-reflection in the plugin"}
	}
	return m, nil, e
}

// describeHook describes one hook, by any of its names, in detail.
func (i *Instance) describeHook(ctx context.Context, name string) (schema.Schema, error) {
	m, _, herr := i.method(ctx, name)
	if herr != nil {
		return schema.Schema{}, herr
	}
	all, err := i.Describe(ctx, "")
	if err != nil {
		return schema.Schema{}, err
	}
	found := m.Details()
	for _, h := range all.Hooks {
		if h.Name == found.Name {
			found.Implemented = h.Implemented
		}
	}
	return schema.Schema{Hooks: []schema.Hook{found}}, nil
}

// Services returns the full names of the plugin's services, without those for hosts
// and tools, in the order of their methods. Errors are those of Describe.
func (i *Instance) Services(ctx context.Context) ([]string, error) {
	set, herr := i.descriptors(ctx)
	if herr != nil {
		return nil, herr
	}
	var names []string
	for _, m := range set.Methods() {
		if service, _ := splitMethod(m); !slices.Contains(names, service) {
			names = append(names, service)
		}
	}
	return names, nil
}

// Describe lists the plugin's methods, without those that every plugin has for its
// host. With a name it describes that one in detail.
func (i *Instance) Describe(ctx context.Context, name string) (schema.Schema, error) {
	if name != "" {
		return i.describeHook(ctx, name)
	}
	set, herr := i.descriptors(ctx)
	if herr != nil {
		return schema.Schema{}, herr
	}
	s := set.Schema()
	methods := set.Methods() // one for each hook, in their order
	for _, m := range methods {
		service, name := splitMethod(m)
		if name != implementedMethod || m.Streams() != "" {
			continue
		}
		names, ok := i.implemented(ctx, set, m)
		if !ok {
			continue
		}
		for n, other := range methods {
			otherService, otherName := splitMethod(other)
			if otherService == service && otherName != name {
				has := slices.Contains(names, otherName)
				s.Hooks[n].Implemented = &has
			}
		}
	}
	return s, nil
}

// splitMethod returns the full name of a method's service, and the method's name.
func splitMethod(m protoschema.Method) (service, method string) {
	service, method, _ = strings.Cut(m.FullName(), "/")
	return service, method
}

// implemented asks a service for the names of the methods it implements: the one
// list of strings in its answer. It reports false without a usable answer.
func (i *Instance) implemented(ctx context.Context, set *protoschema.Descriptors, m protoschema.Method) (names []string, ok bool) {
	answer := m.NewResponse()
	var list protoreflect.FieldDescriptor
	for fields, n := answer.ProtoReflect().Descriptor().Fields(), 0; n < fields.Len(); n++ {
		if f := fields.Get(n); f.IsList() && f.Kind() == protoreflect.StringKind {
			if list != nil {
				return nil, false
			}
			list = f
		}
	}
	if list == nil {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(outgoing(ctx, i.cfg.Metadata), probeLimit)
	defer cancel()
	var content []byte
	err := i.conn.Invoke(ctx, "/"+m.FullName(), []byte{}, &content, i.options()...)
	if err == nil {
		err = set.Unmarshal(content, answer)
	}
	if err != nil {
		i.cfg.Debug("grpc", m.FullName()+": "+err.Error())
		return nil, false
	}
	values := answer.ProtoReflect().Get(list).List()
	for n := range values.Len() {
		names = append(names, values.Get(n).String())
	}
	return names, true
}
