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
	places   []place // where the cases to run are, in order
	isRecord bool    // the file has a head line
}

// place is the place of a case in a file. A file may have millions of cases, so each case is parsed
// when it is needed, and only its place is kept.
type place struct {
	start, line int
	*heading
}

// heading has the properties that all cases below a head line of a record share. In a file without
// head lines, all cases share one heading.
type heading struct {
	words    []schema.Word        // named arguments of every call
	fields   map[string]string    // gRPC method → the field that the text of a call sets
	messages map[string]*messages // hook → its messages, or nil if the hook does not return messages
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

// Select keeps the cases whose label, hook or file path contains text.
func (f *File) Select(text string) {
	if text == "" {
		return
	}
	f.places = slices.DeleteFunc(f.places, func(p place) bool {
		c, _ := f.read(p) // Parse has read it without an error
		return !strings.Contains(c.Label()+"\n"+c.Hook()+"\n"+c.File, text)
	})
}

// Case is a call with the answer that it should get. It is immutable.
type Case struct {
	File string // the path as typed
	Line int    // the line number, from 1
	// Name is the name of the case, or empty.
	Name string
	// Skip is the reason to skip the case. It is empty if the case runs.
	Skip string

	call lines.Call
	*heading
	wants      answer          // the expected result or items, if hasAnswer is set
	hasAnswer  bool            // the call must return wants
	contains   json.RawMessage // a value that the result must contain, or nil
	match      *regexp.Regexp  // a pattern that the result must match, or nil
	fails      *wantedError    // the expected error, or nil if the call must succeed
	health     bool            // the plugin must be healthy after the call
	under      time.Duration   // the limit on the call's duration, or 0 if there is none
	occurrence int             // the number of this call among the equal calls of a record
	start, end int             // the byte offsets of the line in the file
}

// answer is the returned or the expected answer of a call.
type answer struct {
	lines.Answer
	err *hook.Error
}

// wantedError describes the error that a call should return. An empty field matches any error.
type wantedError struct {
	Kind    hook.Kind `json:"kind,omitempty"`
	Type    string    `json:"type,omitempty"`    // the type of the exception, or the gRPC status code
	Match   string    `json:"match,omitempty"`   // a regular expression for the message
	Message string    `json:"message,omitempty"` // the whole message
	match   *regexp.Regexp
	whole   bool   // the case has a whole error, as a record does
	text    string // the type or a part of the message, or empty if the other fields are compared
}

// Hook returns the name of the hook.
func (c *Case) Hook() string { return c.call.Hook }

// Preflight returns an error if the plugin is not healthy or does not describe its hooks. If a call
// of a gRPC method has a text, Preflight assigns it to the only field that no word sets. If there
// is no such field, it returns an error that names the case. A case whose hook the plugin lacks
// fails when it runs.
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

// describe describes a hook, with the timeout of a call. It returns the zero Hook if the plugin
// lacks it.
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

// resolveText decides which field the text of the call sets. It stores the field for all cases with
// the same heading and hook.
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
