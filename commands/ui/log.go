package ui

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Log writes a line of pyplug's own log to standard error. It drops the level "info"
// unless Verbose is set. Pairs of key and value follow the message. A value is a string,
// number, bool, duration, error or anything that fmt prints.
//
// A text line is "pyplug | 12:04:05.123 message key=value". A JSON line is {"time",
// "level", "message", key: value…}; durations in it are milliseconds, and their keys end
// in "_ms".
func (s *Streams) Log(level, message string, pairs ...any) {
	if level == "info" && !s.Verbose {
		return
	}
	if s.LogJSON {
		s.print(s.logJSON(level, message, pairs...))
		return
	}
	text := message
	for key, value := range eachPair(pairs) {
		text += " " + key + "=" + logText(value)
	}
	label := "pyplug | " + s.Now().Format("15:04:05.000") + " "
	if level != "info" {
		label += level + ": "
	}
	s.print(label + s.err().text(text, "  ") + "\n")
}

// logText is a value in a text line. It is quoted if its end could not be seen.
func logText(value any) string {
	text := fmt.Sprint(value)
	if d, ok := value.(time.Duration); ok {
		text = span(d)
	}
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == '=' }) {
		return strconv.Quote(text)
	}
	return text
}

// logJSON is a line of the log as JSON.
func (s *Streams) logJSON(level, message string, pairs ...any) string {
	line := ""
	pairs = append([]any{"time", s.Now().Format(timeFormat), "level", level, "message", message}, pairs...)
	for key, value := range eachPair(pairs) {
		switch v := value.(type) {
		case time.Duration:
			key, value = strings.TrimSuffix(key, "_ms")+"_ms", milliseconds(v)
		case bool, int, int64, uint64, json.RawMessage:
		default:
			value = fmt.Sprint(value)
		}
		line += "," + string(compactJSON(key)) + ":" + string(compactJSON(value))
	}
	return "{" + line[1:] + "}\n"
}

// eachPair yields keys and values. It ignores a last key without a value.
func eachPair(pairs []any) func(yield func(string, any) bool) {
	return func(yield func(string, any) bool) {
		for i := 0; i+1 < len(pairs); i += 2 {
			if !yield(fmt.Sprint(pairs[i]), pairs[i+1]) {
				return
			}
		}
	}
}
