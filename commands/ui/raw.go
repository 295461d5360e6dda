package ui

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner/hook"
)

// writeRaw prints a string's text and a newline, bytes without one, nothing for null,
// the sole text of a message, and any other value as JSON. Held: outMu.
func (s *Streams) writeRaw(value []byte, item hook.Item) error {
	w := s.lineWriter(len(value))
	switch {
	case item.Sole != nil:
		_, _ = w.WriteString(item.Sole.Text)
		if !item.Sole.Binary {
			_ = w.WriteByte('\n')
		}
	case item.Binary:
		return writeBase64(s.Out, value)
	case len(value) == 0 || string(value) == "null":
	case value[0] != '"':
		return s.writeLine(s.oneLine(value))
	default:
		writeText(w, bytes.TrimSuffix(value[1:], []byte{'"'})) // the text itself may end in a quote
		_ = w.WriteByte('\n')
	}
	return w.Flush() // or any error before it
}

// simpleEscapes are what stands for a character in JSON, and that character.
var simpleEscapes = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\b`, "\b", `\f`, "\f", `\"`, `"`, `\\`, `\`, `\/`, "/")

// writeText writes the text of a JSON string. A lone surrogate from \udc80 to \udcff is
// a byte that Python could not decode, and becomes that byte again. Any other lone
// surrogate becomes U+FFFD.
func writeText(w *bufio.Writer, inner []byte) {
	for len(inner) > 0 {
		i := bytes.IndexByte(inner, '\\')
		if i < 0 || i+1 == len(inner) {
			_, _ = w.Write(inner)
			return
		}
		_, _ = w.Write(inner[:i])
		inner = inner[i:]
		unit, ok := hexUnit(inner)
		if !ok {
			_, _ = simpleEscapes.WriteString(w, string(inner[:2]))
			inner = inner[2:]
			continue
		}
		inner = inner[6:]
		low, _ := hexUnit(inner)
		switch pair := utf16.DecodeRune(unit, low); {
		case pair != utf8.RuneError:
			_, _ = w.WriteRune(pair)
			inner = inner[6:]
		case unit >= 0xdc80 && unit <= 0xdcff:
			_ = w.WriteByte(byte(unit))
		default:
			_, _ = w.WriteRune(unit) // U+FFFD for a surrogate
		}
	}
}

// hexUnit reads the \uXXXX that b begins with.
func hexUnit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
