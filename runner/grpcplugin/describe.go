package grpcplugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/status"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// reflectLimit is the timeout of server reflection. It leaves time for reading the files.
const reflectLimit = 5 * time.Second

// descriptors returns the plugin's methods and messages. It discovers them once.
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
			return nil, unanswered(ctx, "no description", false)
		}
		if err != nil {
			return nil, i.notDescribed(err)
		}
		i.methods = set
		i.cfg.Debug("grpc", fmt.Sprintf("%d methods described after %s", len(set.Methods()), time.Since(began)))
	}
	return i.methods, nil
}

// discover uses server reflection, or else reads the plugin's files, and adds the descriptors that
// the user named.
func (i *Instance) discover(ctx context.Context) (*protoschema.Descriptors, error) {
	within, cancel := context.WithTimeout(ctx, reflectLimit)
	defer cancel()
	reflected, err := reflectFiles(within, i.conn)
	var sources []protoschema.Source
	switch {
	case lostConnection(err) && i.exits(): // an exit is an error, even if files describe the plugin
		return nil, err
	case err == nil && len(reflected.Files) > 0:
		sources = append(sources, reflected)
	case ranOut(within, err):
		err = &hook.Error{Kind: hook.Timeout, Err: &hook.LimitError{What: "no answer from " + reflectionName, Limit: reflectLimit}}
	}
	if len(sources) == 0 && i.sources != nil {
		// A failure of reflection does not matter if there are generated files or descriptors.
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

// notDescribed returns the error for a failed discover.
func (i *Instance) notDescribed(err error) *hook.Error {
	s, isStatus := status.FromError(err)
	switch own := asError(err); {
	case own != nil && own.Kind != hook.Request: // otherwise the error is about descriptors
		return own
	case isStatus && i.exits():
		return i.exitError("")
	case isStatus:
		err := statusError(s)
		if large := answerTooLarge(s, i.cfg.maxReflection()); large != nil {
			err = large
		}
		return setStatus(hook.NewError(hook.Failed, fmt.Errorf("%s: %w", reflectionName, err)), s, nil)
	}
	e := hook.NewError(hook.Request, err)
	if e.Reason == protoschema.Disagree && len(i.cfg.Extra) > 0 {
		e.Hints = append(e.Hints, schema.Hintf("leave out %s or %s", schema.Setting("proto"), schema.Setting("protoset")))
	}
	return e
}

// method finds the method with a hook's name.
func (i *Instance) method(ctx context.Context, name string) (protoschema.Method, *hook.Error) {
	set, herr := i.descriptors(ctx)
	if herr != nil {
		return protoschema.Method{}, herr
	}
	m, err := set.Find(name)
	if err == nil {
		return m, nil
	}
	e := hook.NewError(hook.Request, err)
	if none := (*schema.NoHookError)(nil); errors.As(err, &none) && len(set.Methods()) == 0 {
		none.Why = "no server reflection describes its methods, and no other descriptors were found"
		e.Hints = schema.Hints("describe its methods with %s or %s, or add grpcio-reflection to the plugin", schema.Setting("proto"), schema.Setting("protoset"))
	}
	return m, e
}

// Describe lists the plugin's methods, or describes one of them in detail. It omits the methods
// that every plugin has for its host.
func (i *Instance) Describe(ctx context.Context, q schema.Query) (schema.Schema, error) {
	if q.Hook != "" {
		m, herr := i.method(ctx, q.Hook)
		if herr != nil {
			herr.Hook = q.Hook
			return schema.Schema{}, herr
		}
		return schema.Schema{Hooks: []schema.Hook{m.Describe(q)}}, nil
	}
	set, herr := i.descriptors(ctx)
	switch {
	case herr != nil:
		return schema.Schema{}, herr
	case i.Exited(): // an exit is an error, even if files describe the plugin
		return schema.Schema{}, i.exitError("")
	}
	return set.Schema(q), nil
}
