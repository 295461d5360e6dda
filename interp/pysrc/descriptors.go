package pysrc

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// marker replaces a literal in rendered code.
const marker = "\x02"

// argument matches the call or argument that has a descriptor, together with the literals of its
// value.
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
// that are built at run time. If it returns an error, it also returns the descriptors before the
// mistake. The descriptors take no more memory than text.
func Descriptors(text string) ([][]byte, error) {
	if !strings.Contains(text, "AddSerializedFile") && !strings.Contains(text, "serialized_pb") {
		return nil, nil
	}
	var literals []literal
	code := render(text, func(l literal) string {
		literals = append(literals, l)
		return marker
	})
	var found [][]byte
	known := map[string]bool{}
	passed, end := 0, 0 // passed is the number of literals before end
	for _, m := range argument().FindAllStringSubmatchIndex(code, -1) {
		passed += strings.Count(code[end:m[2]], marker)
		end = m[3]
		var data []byte
		for range strings.Count(code[m[2]:end], marker) {
			ok := false
			if data, ok = literals[passed].appendTo(data); !ok {
				return found, fmt.Errorf("line %d: a descriptor that cannot be read, expected bytes as protoc writes them", literals[passed].line)
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

// appendTo appends the bytes of a literal. It encodes text as Latin-1. ok is false if the literal
// is not closed, or contains escapes that generated code does not use.
func (l literal) appendTo(data []byte) (_ []byte, ok bool) {
	if !l.closed || strings.ContainsAny(l.prefix, "fFtT") {
		return data, false
	}
	text, escapes := l.text, !strings.ContainsAny(l.prefix, "rR")
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
