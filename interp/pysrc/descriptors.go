package pysrc

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// marker stands for a literal in rendered code.
const marker = "\x02"

// argument matches the name of the call or argument that holds a descriptor, with the literals that
// are its value.
var argument = Expression(`(?:AddSerializedFile|serialized_pb)\s*[(=](?:[\s(]|\b_b\b)*(` + marker + `(?:\s*` + marker + `)*)`)

// Descriptors returns the serialized descriptors in a *_pb2.py: the bytes of each
// google.protobuf.FileDescriptorProto, in order and without duplicates. text comes from [Decode].
// It knows the forms of all protoc versions since 3.0:
//
//	DESCRIPTOR = _descriptor_pool.Default().AddSerializedFile(b'…')  # from 3.20
//	DESCRIPTOR = _descriptor.FileDescriptor(…, serialized_pb=b'…')   # until 3.19
//	DESCRIPTOR = _descriptor.FileDescriptor(…, serialized_pb=_b('…'))
//
// Descriptors skips arguments that are not literals, as in protobuf's own code and in descriptors
// that are built at run time. With an error it also returns the descriptors before it. The
// descriptors take no more memory than text.
func Descriptors(text string) ([][]byte, error) {
	if !strings.Contains(text, "AddSerializedFile") && !strings.Contains(text, "serialized_pb") {
		return nil, nil
	}
	type literal struct {
		raw  string
		line int
	}
	var literals []literal
	code := render(text, func(raw string, line int) string {
		literals = append(literals, literal{raw, line})
		return marker
	})
	var found [][]byte
	known := map[string]bool{}
	passed, end := 0, 0 // how many of the literals were before end
	for _, m := range argument().FindAllStringSubmatchIndex(code, -1) {
		passed += strings.Count(code[end:m[2]], marker)
		end = m[3]
		var data []byte
		for range strings.Count(code[m[2]:end], marker) {
			ok := false
			if data, ok = appendLiteral(data, literals[passed].raw); !ok {
				return found, fmt.Errorf("line %d: a descriptor that cannot be read, want bytes as protoc writes them", literals[passed].line)
			}
			passed++
		}
		if len(data) > 0 && !known[string(data)] {
			known[string(data)] = true
			found = append(found, data)
		}
	}
	return found, nil
}

// appendLiteral appends the bytes of a literal with its prefix and quotes. It encodes text as
// Latin-1. ok is false for escapes that generated code does not use, and if raw is not a literal.
func appendLiteral(data []byte, raw string) (_ []byte, ok bool) {
	at := strings.IndexAny(raw, `'"`)
	if at < 0 || strings.ContainsAny(raw[:at], "fFtT") {
		return data, false
	}
	mark := raw[at : at+1]
	if triple := strings.Repeat(mark, 3); strings.HasPrefix(raw[at:], triple) {
		mark = triple
	}
	text, closed := strings.CutSuffix(raw[at+len(mark):], mark)
	if !closed || len(raw) < at+2*len(mark) {
		return data, false
	}
	escapes := !strings.ContainsAny(raw[:at], "rR")
	for text != "" {
		switch {
		case !escapes || text[0] != '\\':
			r, size := utf8.DecodeRuneInString(text)
			if r > 0xff {
				return data, false
			}
			data, text = append(data, byte(r)), text[size:]
		case strings.HasPrefix(text, "\\\n"):
			text = text[2:]
		case strings.HasPrefix(text, `\'`), strings.HasPrefix(text, `\"`):
			data, text = append(data, text[1]), text[2:]
		default:
			r, _, rest, err := strconv.UnquoteChar(text, 0)
			if err != nil || r > 0xff {
				return data, false
			}
			data, text = append(data, byte(r)), rest
		}
	}
	return data, true
}
