package cases

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/schema"
)

// File is a file of cases, or a record. Make it with [Parse].
type File struct {
	// Path is the path as typed.
	Path     string
	text     []byte
	places   []place // of the cases to run, in order
	isRecord bool    // it has a head line
}

// place is where a case is in a file, which may have millions: a case is read whenever it is needed.
type place struct {
	start, line int
	*heading
}

// heading is what the cases below a head line of a record share. In a file without head lines all cases
// share one.
type heading struct {
	words    []schema.Word        // named arguments of every call
	fields   map[string]string    // by hook: the field of a gRPC method that a text sets
	messages map[string]*messages // by hook: nil unless it returns messages
}

// Len returns the number of the cases.
func (f *File) Len() int { return len(f.places) }

// All yields the cases.
func (f *File) All() iter.Seq[*Case] {
	return func(yield func(*Case) bool) {
		for _, p := range f.places {
			if c, _ := f.read(p); !yield(c) { // Parse has read it without an error
				return
			}
		}
	}
}

// Select drops the cases without text in their name, hook or file.
func (f *File) Select(text string) {
	if text == "" {
		return
	}
	f.places = slices.DeleteFunc(f.places, func(p place) bool {
		c, _ := f.read(p) // as in All
		return !strings.Contains(c.Label()+"\n"+c.Hook()+"\n"+c.File, text)
	})
}

// Case is a call with the answer that it should get. It does not change.
type Case struct {
	File string // the path as typed
	Line int    // from 1
	// Name is the name of the case, or empty.
	Name string
	// Skip is the reason to skip the case; empty: run it.
	Skip string

	call lines.Call
	*heading
	wants      answer          // the result or the items
	hasAnswer  bool            // wants must be returned
	contains   json.RawMessage // nil: nothing
	match      *regexp.Regexp  // nil: anything
	fails      *wantedError    // nil: the call must not fail
	health     bool            // the plugin must be healthy after the call
	under      time.Duration   // 0: no limit
	occurrence int             // in a record
	start, end int             // bytes of the line in the text of the file
}

// answer is what a call returned, or should return.
type answer struct {
	lines.Answer
	err *hook.Error
}

// wantedError says which error a call should return. Empty fields may be anything.
type wantedError struct {
	Kind    hook.Kind `json:"kind,omitempty"`
	Type    string    `json:"type,omitempty"`    // of the exception, or the gRPC status code
	Match   string    `json:"match,omitempty"`   // a regular expression on the message
	Message string    `json:"message,omitempty"` // the whole message
	match   *regexp.Regexp
	whole   bool   // it has the shape of a returned error, as in a record
	text    string // the type, or a part of the message; empty: the fields above count
}

// Hook returns the name of the hook.
func (c *Case) Hook() string { return c.call.Hook }

// Preflight returns an error if the plugin is not healthy or does not describe its hooks. It assigns the text
// of a call of a gRPC method to the only field that no word sets; if there is none, the error names the
// case. A case whose hook the plugin lacks fails when it runs.
func Preflight(ctx context.Context, p hook.Plugin, o Options, files []*File) error {
	probe, cancel := hook.WithLimit(ctx, o.Probe)
	defer cancel()
	if err := unhealthy(p.Health(probe)); err != nil {
		return err
	}
	known := map[string]schema.Hook{}
	for _, f := range files {
		for c := range f.All() {
			var err error
			h, isKnown := known[c.Hook()]
			if !isKnown {
				h, err = o.describe(ctx, p, c.Hook())
				known[c.Hook()] = h
			}
			if err == nil && h.Name != "" {
				c.messages[c.Hook()] = messagesOf(h)
				err = c.resolveText(h)
			}
			if e := hook.AsError(err); e != nil {
				at := *e
				at.Err = fmt.Errorf("%s:%d: %w", c.File, c.Line, e)
				return &at
			}
		}
	}
	return nil
}

// describe describes a hook, within the limit of a call. It returns the zero Hook if the plugin lacks it.
func (o Options) describe(ctx context.Context, p hook.Plugin, name string) (schema.Hook, error) {
	ctx, cancel := hook.WithLimit(ctx, o.Timeout)
	defer cancel()
	found, err := p.Hooks(ctx, schema.Query{Hook: name})
	if e := hook.AsError(err); e != nil {
		if e.Kind == hook.Request {
			err = nil
		}
		return schema.Hook{}, err
	}
	return found.Hooks[0], nil
}

// resolveText stores the field that the text of the call sets, for all cases with the same heading.
func (c *Case) resolveText(h schema.Hook) error {
	if c.call.Text == nil {
		return nil
	}
	field, err := h.RemainingField(c.words)
	if err != nil {
		e := hook.NewError(hook.Request, err)
		e.Hook, e.Hints = c.Hook(), schema.Hints(`write "args" in place of "text", with the names of the fields`)
		return e
	}
	if field != "" {
		c.fields[c.Hook()] = field
	}
	return nil
}

// arguments returns the arguments of the call.
func (c *Case) arguments() hook.Args { return c.call.Arguments(c.fields[c.Hook()], c.words) }

// Label returns the name of the case, or else its call, such as `add([2,40])`.
func (c *Case) Label() string {
	if c.Name != "" {
		return c.Name
	}
	args := string(c.call.Args)
	if c.call.Text != nil {
		args = string(schema.Quote(string(c.call.Text)))
	}
	if len(args) > 1 && args[0] == '[' {
		args = args[1 : len(args)-1]
	}
	return c.Hook() + "(" + schema.Short(args) + ")"
}
