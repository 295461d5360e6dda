package hook

import (
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"
)

// Told is an [*Error] as it crosses a socket, in JSON. Who shows it at the other
// end shows the same as who has the error itself: what depends on its types, and
// on the session, was asked for on this side. The zero value tells of nothing.
type Told struct {
	Kind   string      `json:"kind"`
	Hook   string      `json:"hook,omitempty"`
	Sent   bool        `json:"sent,omitempty"`
	Python *Raised     `json:"python,omitempty"`
	Status *RPCStatus  `json:"status,omitempty"`
	At     []Frame     `json:"at,omitempty"`
	Exit   *toldExit   `json:"exit,omitempty"`
	Tried  []anyString `json:"tried,omitempty"`
	Text   anyString   `json:"text"`
	// Drawing are the lines of an error that draws where it is, Context says
	// which plugin it is about, and Hints what to do.
	Drawing []anyString `json:"drawing,omitempty"`
	Context []string    `json:"context,omitempty"`
	Hints   []string    `json:"hints,omitempty"`
	// Reason is one word for causes that the other side makes again, such as that
	// the plugin is being stopped: that of the cause which has a method Reason.
	Reason string `json:"reason,omitempty"`
	// Input tells that what failed is the input that the call was given.
	Input bool `json:"input,omitempty"`
}

// toldExit is an [Exit] whose lines may be in any encoding.
type toldExit struct {
	Code        int           `json:"code"`
	Signal      string        `json:"signal,omitempty"`
	OutOfMemory bool          `json:"out_of_memory,omitempty"`
	Limit       string        `json:"limit,omitempty"`
	Uptime      time.Duration `json:"uptime"`
	Stderr      []anyString   `json:"stderr,omitempty"`
	Stacks      []anyString   `json:"stacks,omitempty"`
	Stopped     bool          `json:"stopped,omitempty"`
	MaxRSS      int64         `json:"max_rss,omitempty"`
	Step        string        `json:"step,omitempty"`
	Left        []anyString   `json:"left,omitempty"`
}

// ToldError is the cause of an error that came through a socket.
type ToldError struct {
	// Text is the message that it had there.
	Text string
	// Lines are what it draws below the message.
	Lines []string
	// Context says which plugin it is about, Hints what to do, a line each.
	Context, Hints []string
	// Err is the cause where it is on this side, or was made again there, and nil
	// else: why the call was given up, what was wrong with the input that it was
	// given, or that the plugin is being stopped. What to do is
	// known here then, and Hints is not all.
	Err error
}

// Error is the message that it had there.
func (e *ToldError) Error() string { return e.Text }

// Drawing are the lines that it draws below the message.
func (e *ToldError) Drawing() []string {
	if own := (interface{ Drawing() []string })(nil); len(e.Lines) == 0 && errors.As(e.Err, &own) {
		return own.Drawing()
	}
	return e.Lines
}

// Unwrap returns the cause where it is on this side.
func (e *ToldError) Unwrap() error { return e.Err }

// Tell makes an error ready to cross a socket. One that is no [*Error] is told as
// of kind [Internal]. Context and Hints are the caller's to fill in.
func Tell(err error) Told {
	e := (*Error)(nil)
	if !errors.As(err, &e) {
		e = &Error{Kind: Internal, Err: err}
	}
	t := Told{
		Kind: e.Kind.String(), Hook: e.Hook, Sent: e.Begun, Python: e.Python, Status: e.Status, At: e.At,
		Tried: anyStrings(e.Tried), Text: anyString(e.Error()), Exit: tellExit(e.Exit),
	}
	if drawn := (interface{ Drawing() []string })(nil); errors.As(e.Err, &drawn) {
		t.Drawing = anyStrings(drawn.Drawing())
	}
	if known := (interface{ Reason() string })(nil); errors.As(err, &known) {
		t.Reason = known.Reason()
	}
	if again := (*ToldError)(nil); errors.As(err, &again) {
		t.Context, t.Hints = again.Context, again.Hints
	}
	return t
}

// Error is the error that was told. Its cause is a [*ToldError]. A kind that is
// not known, which no pyplug of the same version tells, is [Internal].
func (t Told) Error() *Error {
	e := &Error{
		Kind: Internal, Hook: t.Hook, Begun: t.Sent, Python: t.Python, Status: t.Status, At: t.At,
		Tried: plainStrings(t.Tried), Exit: t.Exit.exit(),
		Err: &ToldError{Text: string(t.Text), Lines: plainStrings(t.Drawing), Context: t.Context, Hints: t.Hints},
	}
	for _, k := range Kinds() {
		if k.String() == t.Kind {
			e.Kind = k
		}
	}
	return e
}

func tellExit(e *Exit) *toldExit {
	if e == nil {
		return nil
	}
	return &toldExit{
		Code: e.Code, Signal: e.Signal, OutOfMemory: e.OutOfMemory, Limit: e.Limit, Uptime: e.Uptime, Stderr: anyStrings(e.Stderr),
		Stacks: anyStrings(e.Stacks), Stopped: e.Stopped, MaxRSS: e.MaxRSS, Step: e.Step, Left: anyStrings(e.Left),
	}
}

func (t *toldExit) exit() *Exit {
	if t == nil {
		return nil
	}
	return &Exit{
		Code: t.Code, Signal: t.Signal, OutOfMemory: t.OutOfMemory, Limit: t.Limit, Uptime: t.Uptime, Stderr: plainStrings(t.Stderr),
		Stacks: plainStrings(t.Stacks), Stopped: t.Stopped, MaxRSS: t.MaxRSS, Step: t.Step, Left: plainStrings(t.Left),
	}
}

// anyString is text that a plugin wrote, which need not be UTF-8: JSON has it as
// a string, or else as {"bytes": base64}.
type anyString string

// foreign is the form of what is not UTF-8.
type foreign struct {
	Bytes []byte `json:"bytes"`
}

// MarshalJSON writes the text so that it comes back as it is.
func (s anyString) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(s)) {
		return json.Marshal(string(s))
	}
	return json.Marshal(foreign{[]byte(s)})
}

// UnmarshalJSON reads either form.
func (s *anyString) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '{' {
		var f foreign
		if err := json.Unmarshal(text, &f); err != nil {
			return err
		}
		*s = anyString(f.Bytes)
		return nil
	}
	return json.Unmarshal(text, (*string)(s))
}

func anyStrings(texts []string) []anyString {
	var all []anyString
	for _, text := range texts {
		all = append(all, anyString(text))
	}
	return all
}

func plainStrings(texts []anyString) []string {
	var all []string
	for _, text := range texts {
		all = append(all, string(text))
	}
	return all
}
