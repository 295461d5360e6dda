package ui

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// timeFormat is RFC 3339 with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

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
		s.logLine(level, message, pairs)
		return
	}
	var b strings.Builder
	b.WriteString(message)
	for key, value := range eachPair(pairs) {
		text := fmt.Sprint(value)
		if d, ok := value.(time.Duration); ok {
			text = span(d)
		}
		if text == "" || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == '=' }) {
			text = strconv.Quote(text)
		}
		b.WriteString(" " + key + "=" + text)
	}
	label := "pyplug | " + s.now().Format("15:04:05.000") + " "
	if level != "info" {
		label += level + ": "
	}
	s.print(label + s.escapeText(b.String(), "  ") + "\n")
}

// logLine writes a line of the log as JSON.
func (s *Streams) logLine(level, message string, pairs []any) {
	s.print(string(s.appendLog(nil, level, message, pairs)))
}

func (s *Streams) appendLog(b []byte, level, message string, pairs []any) []byte {
	b = append(b, `{"time":"`...)
	b = s.now().AppendFormat(b, timeFormat)
	b = appendJSONText(append(b, `","level":`...), level)
	b = appendJSONText(append(b, `,"message":`...), message)
	for key, value := range eachPair(pairs) {
		if _, ok := value.(time.Duration); ok && !strings.HasSuffix(key, "_ms") {
			key += "_ms"
		}
		b = appendJSONText(append(b, ','), key)
		b = appendJSONValue(append(b, ':'), value)
	}
	return append(b, "}\n"...)
}

func appendJSONValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case time.Duration:
		return append(b, milliseconds(v)...)
	case bool, int, int64, uint64:
		return fmt.Append(b, v)
	case json.RawMessage:
		return append(b, guardJSON(v)...)
	}
	return appendJSONText(b, fmt.Sprint(value))
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

// span writes a duration for people: "212 ms", "2.1 s", "3 min 20 s".
func span(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}
