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
	// describeLimit bounds the description as a whole, reflectLimit the plugin's own
	// part, so that time is left for its files.
	describeLimit = 10 * time.Second
	reflectLimit  = 5 * time.Second
	// implementedMethod lists which of its methods a service implements.
	implementedMethod = "Implemented"
)

// descriptors returns the plugin's methods and messages, and finds them out once.
func (i *Instance) descriptors(ctx context.Context) (*protoschema.Descriptors, *hook.Error) {
	began := time.Now()
	select {
	case i.describing <- struct{}{}:
	case <-ctx.Done():
		return nil, hook.Ended(ctx, "", "no description", began, false)
	}
	defer func() { <-i.describing }()
	if i.methods == nil {
		set, err := i.discover(ctx)
		if err != nil {
			return nil, i.notDescribed(ctx, err, began)
		}
		i.methods = set
		i.cfg.debug("grpc", fmt.Sprintf("%d methods described after %s", len(set.Methods()), time.Since(began)))
	}
	return i.methods, nil
}

// discover asks the plugin, else its files, and adds what the user named.
func (i *Instance) discover(ctx context.Context) (*protoschema.Descriptors, error) {
	ctx, cancel := context.WithTimeout(ctx, describeLimit)
	defer cancel()
	sources, err := i.reflect(ctx)
	if len(sources) == 0 {
		// If there are files, a reflection service that fails does not matter.
		files, filesErr := hook.Interruptible(ctx, i.process.sources)
		if err == nil || len(files) > 0 {
			sources, err = files, filesErr
		}
	}
	if err == nil && i.cfg.Extra != nil {
		var extra []protoschema.Source
		extra, err = i.cfg.Extra(ctx)
		sources = append(slices.Clip(sources), extra...)
	}
	if err != nil {
		return nil, err
	}
	return protoschema.MergeDescriptors(sources...)
}

// reflect asks server reflection. It returns nothing if the plugin has none, or no
// service but those for hosts.
func (i *Instance) reflect(ctx context.Context) ([]protoschema.Source, error) {
	within, cancel := context.WithTimeout(ctx, reflectLimit)
	defer cancel()
	files, err := reflectFiles(within, i.conn)
	if s := status.Convert(err); ranOut(ctx, s.Code()) {
		err = ctx.Err()
	} else if ranOut(within, s.Code()) {
		err = &hook.Error{Kind: hook.Timeout, Err: &hook.LimitError{What: "no answer of " + reflectionName, Limit: reflectLimit}}
	} else if large := answerTooLarge(s, i.cfg.maxReflection()); large != nil {
		err = hook.NewError(hook.Failed, fmt.Errorf("%s: %w", reflectionName, large))
	}
	if len(files) == 0 || err != nil {
		return nil, err
	}
	source, err := protoschema.ReadFiles(reflectionName, files...)
	return []protoschema.Source{source}, err
}

// notDescribed is the error for a failed discover.
func (i *Instance) notDescribed(ctx context.Context, err error, began time.Time) *hook.Error {
	s, isStatus := status.FromError(err)
	switch {
	case ctx.Err() != nil:
		return hook.Ended(ctx, "", "no description", began, false)
	case errors.Is(err, context.DeadlineExceeded):
		return &hook.Error{Kind: hook.Timeout,
			Err: &hook.LimitError{What: "no description of the methods", Limit: describeLimit}}
	case asError(err) != nil:
		return asError(err)
	case !isStatus:
		e := hook.NewError(hook.Request, err)
		if e.Reason == protoschema.Disagree && i.cfg.Extra != nil {
			e.Hints = append(e.Hints, "or leave out --proto or --protoset")
		}
		return e
	case i.exitsWithin(exitLimit):
		return i.exitError("")
	}
	return setStatus(&hook.Error{Kind: hook.Failed, Err: fmt.Errorf("%s: %w", reflectionName, statusError(s))}, s, nil)
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

// Template returns an empty request of a method as JSON, to be filled in. Errors are
// those of a call that was not sent.
func (i *Instance) Template(ctx context.Context, name string) ([]byte, error) {
	m, _, herr := i.method(ctx, name)
	if herr != nil {
		return nil, herr
	}
	return m.Template(), nil
}

// DescribeHook describes one hook, by any of its names, with its template.
func (i *Instance) DescribeHook(ctx context.Context, name string) (schema.Schema, error) {
	template, err := i.Template(ctx, name)
	if err != nil {
		return schema.Schema{}, err
	}
	all, err := i.Describe(ctx)
	if err != nil {
		return schema.Schema{}, err
	}
	found := schema.Hook{Name: name}
	for _, h := range all.Hooks {
		if h.Name == name || strings.HasSuffix(h.Name, "/"+name) || strings.HasSuffix(h.Name, "."+name) {
			found = h
		}
	}
	found.Template = template
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
		service, _ := splitMethod(m)
		others := strings.HasPrefix(service, "plugin.") || strings.HasPrefix(service, "grpc.")
		if !others && !slices.Contains(names, service) {
			names = append(names, service)
		}
	}
	return names, nil
}

// Describe lists the plugin's methods, without those that every plugin has for its
// host.
func (i *Instance) Describe(ctx context.Context) (schema.Schema, error) {
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
	if err := i.conn.Invoke(ctx, "/"+m.FullName(), m.NewRequest(), answer, i.options(newCodec(set))...); err != nil {
		i.cfg.debug("grpc", m.FullName()+": "+err.Error())
		return nil, false
	}
	values := answer.ProtoReflect().Get(list).List()
	for n := range values.Len() {
		names = append(names, values.Get(n).String())
	}
	return names, true
}
