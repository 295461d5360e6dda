package wire

import (
	"fmt"
	"slices"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// AppendCall appends a line with a call: {"hook": NAME, "args": …}. If the call has words, the line
// has the members of [EncodeWords] instead of "args".
func AppendCall(dst []byte, c hook.Call) []byte {
	dst = schema.AppendQuote(append(dst, `{"hook":`...), c.Hook)
	switch {
	case len(c.Args.Words) > 0:
		dst = append(append(dst, ','), EncodeWords(c.Args)[1:]...)
		return append(dst, '\n')
	case len(c.Args.JSON) > 0:
		dst = append(append(dst, `,"args":`...), c.Args.JSON...)
	}
	return append(dst, "}\n"...)
}

// DecodeCall reads a line in the format of [AppendCall].
func DecodeCall(line []byte) (c hook.Call, err error) {
	if err := schema.CheckValue(line); err != nil {
		return c, fmt.Errorf("the line is %w", err)
	}
	var values [len(callKeys)][]byte
	known := schema.Trim(line)[0] == '{'
	if known {
		for quoted, value := range schema.Members(schema.Trim(line)) {
			i := slices.Index(callKeys[:], string(quoted))
			if known = i >= 0 && values[i] == nil; !known {
				break
			}
			values[i] = value
		}
	}
	name, args, words := values[0], values[1], values[2]
	if !known || len(name) <= len(`""`) || name[0] != '"' {
		return c, fmt.Errorf(`the line is %s, expected {"hook": NAME} with "args", "words" or both`, schema.Short(string(line)))
	}
	c.Hook = string(schema.Unquote(name))
	switch {
	case words != nil && args != nil:
		c.Args, err = DecodeArgs(slices.Concat([]byte(`{"words":`), words, []byte(`,"args":`), args, []byte("}")), true)
	case words != nil:
		c.Args, err = DecodeArgs(slices.Concat([]byte(`{"words":`), words, []byte("}")), true)
	case args != nil && args[0] != '{' && args[0] != '[':
		err = fmt.Errorf(`"args" is %s, expected an object (names) or an array (positions)`, schema.Short(string(args)))
	default:
		c.Args = hook.Args{JSON: args, Valid: true}
	}
	return c, err
}

// callKeys lists the keys of a line with a call.
var callKeys = [...]string{`"hook"`, `"args"`, `"words"`}
