package ui

import (
	"bufio"
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner/hook"
)

// writeRaw prints a string's text and a newline, bytes without one, nothing for
// null, of a message its only text, and any other value as JSON.
func (s *Streams) writeRaw(item hook.Item) error {
	value := bytes.TrimSpace(item.Value)
	switch {
	case item.Sole != nil:
		w := bufio.NewWriter(s.Out) // which passes on what is large uncopied
		_, _ = w.WriteString(item.Sole.Text)
		if !item.Sole.Binary {
			_ = w.WriteByte('\n')
		}
		return w.Flush() // and any error before it
	case item.Binary:
		return writeBase64(s.Out, value)
	case len(value) == 0 || string(value) == "null":
		return nil
	case value[0] != '"':
		return s.writeParts(nil, s.oneLine(value), []byte("\n"))
	}
	w := bufio.NewWriter(s.Out)
	writeText(w, bytes.TrimSuffix(value[1:], []byte{'"'})) // the text itself may end in a quote
	_ = w.WriteByte('\n')
	return w.Flush() // and any error before it
}

// writeText writes what a JSON string stands for. A lone surrogate from \udc80
// to \udcff is a byte that Python could not decode, and becomes that byte again;
// any other lone one stands for nothing, and becomes U+FFFD.
func writeText(w *bufio.Writer, inner []byte) {
	for len(inner) > 0 {
		i := bytes.IndexByte(inner, '\\')
		if i < 0 || i+1 >= len(inner) {
			_, _ = w.Write(inner)
			return
		}
		_, _ = w.Write(inner[:i])
		c := inner[i+1]
		if c != 'u' {
			_ = w.WriteByte(unescape(c))
			inner = inner[i+2:]
			continue
		}
		unit, ok := hexUnit(inner[i:])
		if !ok {
			_, _ = w.Write(inner[i:])
			return
		}
		inner = inner[i+6:]
		if low, ok := hexUnit(inner); ok {
			if r := utf16.DecodeRune(unit, low); r != utf8.RuneError {
				_, _ = w.WriteRune(r)
				inner = inner[6:]
				continue
			}
		}
		writeUnit(w, unit)
	}
}

// writeUnit writes one UTF-16 unit that is no half of a pair.
func writeUnit(w *bufio.Writer, unit rune) {
	if unit >= 0xdc80 && unit <= 0xdcff {
		_ = w.WriteByte(byte(unit))
		return
	}
	_, _ = w.WriteRune(unit) // which writes U+FFFD for a surrogate
}

// hexUnit reads the \uXXXX that b begins with.
func hexUnit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}

// unescape is the character that JSON writes as a backslash and c.
func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return c
}
