package bounded

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// Text returns the content of a text file without its byte order mark. Text with the mark of
// UTF-16, as some editors and shells on Windows write it, becomes UTF-8. All other text stays
// unchanged.
func Text(content []byte) string {
	switch {
	case bytes.HasPrefix(content, []byte("\xff\xfe")):
		return fromUTF16(content[2:], binary.LittleEndian)
	case bytes.HasPrefix(content, []byte("\xfe\xff")):
		return fromUTF16(content[2:], binary.BigEndian)
	}
	return strings.TrimPrefix(string(content), "\ufeff")
}

// fromUTF16 converts UTF-16 without its mark. It replaces half a character with U+FFFD.
func fromUTF16(content []byte, order binary.ByteOrder) string {
	units := make([]uint16, 0, len(content)/2+1)
	for len(content) > 1 {
		units = append(units, order.Uint16(content))
		content = content[2:]
	}
	if len(content) > 0 {
		units = append(units, 0xfffd)
	}
	return string(utf16.Decode(units))
}
