package cases

import (
	"encoding/json"
	"regexp"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/schema"
)

// File is a file of cases, or a record. Make it with [Parse].
type File struct {
	// Path is the path as typed.
	Path string
	// Cases are the cases to run, in order.
	Cases []*Case
	text  []byte
}

// Case is a call with the answer that it should get. It does not change.
type Case struct {
	File string // the path as typed
	Line int    // from 1
	// Name is the name of the case, or empty.
	Name string
	// Skip is the reason to skip the case; empty: run it.
	Skip string
	// NoHook is set if the plugin should not have the hook, as a record says.
	NoHook bool

	call       lines.Call
	words      []schema.Word   // of a record: named arguments of every call
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
	hook.Item
	streamed bool
	items    []hook.Item
	err      *hook.Error
}

// wantedError says which error a call should return. Empty fields may be anything.
type wantedError struct {
	Kind    hook.Kind
	Type    string         // of the exception, or the gRPC status code
	Message string         // the whole message
	match   *regexp.Regexp // on the message
	whole   bool           // it has the shape of a returned error, as in a record
}

// Hook returns the name of the hook.
func (c *Case) Hook() string { return c.call.Hook }

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
