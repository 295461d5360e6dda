package grpcplugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

const (
	// describeLimit bounds the description where the context has no deadline.
	describeLimit = 10 * time.Second
	// reflectLimit bounds what the plugin itself says, so that time is left for
	// its files.
	reflectLimit = 5 * time.Second
	// mostFiles is how many files a plugin may describe itself by.
	mostFiles = 2000
	// reflection's name in errors.
	mirrored = "server reflection"
)

// reflectionMethods are the newer and the older form, which differ in name
// only.
var reflectionMethods = []string{
	"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
	"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
}

// described is what is known of a plugin's methods, found out once.
type described struct {
	turn chan struct{} // holds a token for the one who finds out
	set  *protoschema.Descriptors
	by   string // what told: "reflection", "files" or "" for nothing
}

func newDescribed() described {
	d := described{turn: make(chan struct{}, 1)}
	d.turn <- struct{}{}
	return d
}

// descriptors returns what the plugin's methods look like.
func (i *Instance) descriptors(ctx context.Context) (*protoschema.Descriptors, string, *hook.Error) {
	began := time.Now()
	select {
	case <-i.methods.turn:
	case <-ctx.Done():
		return nil, "", hook.Ended(ctx, "", "no description", began, false)
	}
	defer func() { i.methods.turn <- struct{}{} }()
	if i.methods.set == nil {
		set, by, err := i.discover(ctx)
		if err != nil {
			return nil, "", i.undescribed(ctx, err, began)
		}
		i.methods.set, i.methods.by = set, by
		i.cfg.debug("grpc", fmt.Sprintf("%d methods told by %q after %s", len(set.Methods()), by, time.Since(began)))
	}
	return i.methods.set, i.methods.by, nil
}

// Services are the full names of the services that a plugin has, without those
// for hosts and tools, in the order of their methods. Errors are those of
// Describe.
func (i *Instance) Services(ctx context.Context) ([]string, error) {
	set, _, herr := i.descriptors(ctx)
	if herr != nil {
		return nil, herr
	}
	var names []string
	for _, m := range set.Methods() {
		service, _, _ := strings.Cut(m.FullName(), "/")
		others := strings.HasPrefix(service, "plugin.") || strings.HasPrefix(service, "grpc.")
		if !others && !slices.Contains(names, service) {
			names = append(names, service)
		}
	}
	return names, nil
}

// discover asks the plugin, else who knows its files, and adds what the user
// named.
func (i *Instance) discover(ctx context.Context) (*protoschema.Descriptors, string, error) {
	ctx, cancel := context.WithTimeout(ctx, describeLimit)
	defer cancel()
	by := "reflection"
	sources, err := i.reflected(ctx)
	if len(sources) == 0 {
		// A service that fails, or hangs, is none where files do.
		if files, filesErr := i.process.foretold.wait(ctx); err == nil || len(files) > 0 {
			by, sources, err = "files", files, filesErr
		}
	}
	if err == nil && i.cfg.Extra != nil {
		var extra []protoschema.Source
		extra, err = i.cfg.Extra(ctx)
		sources = append(slices.Clip(sources), extra...)
	}
	if err != nil {
		return nil, "", err
	}
	set, err := protoschema.MergeDescriptors(sources...)
	if err == nil && len(set.Methods()) == 0 {
		by = ""
	}
	return set, by, err
}

// reflected is what the plugin says of itself: nothing when it does not serve
// reflection, or no service but those for its host.
func (i *Instance) reflected(ctx context.Context) ([]protoschema.Source, error) {
	within, cancel := context.WithTimeout(ctx, reflectLimit)
	defer cancel()
	files, err := reflect(within, i.conn)
	if s := status.Convert(err); ranOut(ctx, s.Code()) {
		err = ctx.Err()
	} else if ranOut(within, s.Code()) {
		err = &hook.Error{Kind: hook.Timeout, Err: &hook.LimitError{What: "no answer of " + mirrored, Limit: reflectLimit}}
	} else if large := answerTooLarge(s, i.cfg.mostOwn()); large != nil {
		err = &hook.Error{Kind: hook.Failed, Err: fmt.Errorf("%s: %w", mirrored, large)}
	}
	if len(files) == 0 || err != nil {
		return nil, err
	}
	source, err := protoschema.ReadFiles(mirrored, files...)
	return []protoschema.Source{source}, err
}

// foretold is what [Config.Sources] says, which is asked while the plugin starts.
type foretold struct {
	cancel  context.CancelFunc
	done    chan struct{} // closed when the following is valid
	sources []protoschema.Source
	err     error
}

func foretell(ask func(context.Context) ([]protoschema.Source, error)) *foretold {
	ctx, cancel := context.WithCancel(context.Background())
	f := &foretold{cancel: cancel, done: make(chan struct{})}
	go func() { // ends by itself, or by cancel
		defer close(f.done)
		if ask != nil {
			f.sources, f.err = ask(ctx)
		}
	}()
	return f
}

func (f *foretold) wait(ctx context.Context) ([]protoschema.Source, error) {
	select {
	case <-f.done: // also when there is no time left
		return f.sources, f.err
	default:
	}
	select {
	case <-f.done:
		return f.sources, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// undescribed tells why there is no description.
func (i *Instance) undescribed(ctx context.Context, err error, began time.Time) *hook.Error {
	var own *hook.Error
	s, broke := status.FromError(err)
	switch {
	case ctx.Err() != nil:
		return hook.Ended(ctx, "", "no description", began, false)
	case errors.As(err, &own):
		return own
	case errors.Is(err, context.DeadlineExceeded):
		return &hook.Error{Kind: hook.Timeout,
			Err: &hook.LimitError{What: "no description of the methods", Limit: describeLimit}}
	case !broke:
		return &hook.Error{Kind: hook.Request, Err: err}
	case i.diedWithin(lostLimit):
		exit := i.Exit()
		return &hook.Error{Kind: hook.Crash, Exit: &exit, Err: errEnded}
	}
	return &hook.Error{Kind: hook.Failed, Status: newStatus(s, nil),
		Err: fmt.Errorf("%s: %w", mirrored, statusText(s))}
}

// Describe lists the hooks: the plugin's methods, without those that every
// plugin has for its host.
func (i *Instance) Describe(ctx context.Context) (schema.Schema, error) {
	set, _, herr := i.descriptors(ctx)
	if herr != nil {
		return schema.Schema{}, herr
	}
	s := set.Schema()
	i.markImplemented(ctx, set, s)
	return s, nil
}

// Descriptors are the plugin's methods and messages, for those who want more
// than Describe tells. by is "reflection", "files", or empty when there are
// none.
func (i *Instance) Descriptors(ctx context.Context) (set *protoschema.Descriptors, by string, err error) {
	set, by, herr := i.descriptors(ctx)
	if herr != nil {
		return nil, "", herr
	}
	return set, by, nil
}

// reflect reads the files of all services that a server tells of, imports
// included; none from a server without reflection.
func reflect(ctx context.Context, cc *grpc.ClientConn) ([][]byte, error) {
	for _, method := range reflectionMethods {
		files, err := reflectBy(ctx, cc, method)
		if status.Code(err) != codes.Unimplemented {
			return files, err
		}
	}
	return nil, nil
}

func reflectBy(ctx context.Context, cc *grpc.ClientConn, method string) ([][]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := cc.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return nil, err
	}
	m := mirror{stream: stream, files: map[string][]byte{}}
	list, err := m.ask(&reflection.ServerReflectionRequest{
		MessageRequest: &reflection.ServerReflectionRequest_ListServices{ListServices: "*"},
	})
	if err != nil {
		return nil, err
	}
	for _, service := range list.GetListServicesResponse().GetService() {
		if forHost(service.GetName()) {
			continue
		}
		if err := m.symbol(service.GetName()); err != nil {
			return nil, err
		}
	}
	if err := m.imports(); err != nil {
		return nil, err
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	return m.inOrder, nil
}

// forHost tells whether a service is for the host and not worth a question.
func forHost(service string) bool {
	return strings.HasPrefix(service, "grpc.reflection.") || service == "grpc.health.v1.Health" ||
		strings.HasPrefix(service, "plugin.GRPC")
}
