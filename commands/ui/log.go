package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Log writes a line of pyplug's own log to standard error. It drops the level "info"
// unless Verbose is set. Pairs of key and value follow the message. A value is a number,
// bool, duration, error, JSON, or anything that fmt prints as text.
//
// A text line is "pyplug | 12:04:05.123 message key=value". A JSON line is {"time",
// "level", "message", key: value…}; durations in it are milliseconds, and their keys end
// in "_ms".
func (s *Streams) Log(level, message string, pairs ...any) {
	if line := s.logLine(level, message, pairs...); line != "" {
		s.print(line)
	}
}

// LogSoon is Log that does not wait until the line is written. It drops a line if too many
// wait.
func (s *Streams) LogSoon(level, message string, pairs ...any) {
	s.screen.offer(s.Err, s.logLine(level, message, pairs...))
}

// logLine is a line of the log; empty if it is dropped.
func (s *Streams) logLine(level, message string, pairs ...any) string {
	switch {
	case level == "info" && !s.Verbose:
		return ""
	case s.LogJSON:
		return s.logJSON(level, message, pairs...)
	}
	label := "pyplug | " + s.Now().Format("15:04:05.000") + " "
	if level != "info" {
		label += level + ": "
	}
	for i := 1; i < len(pairs); i += 2 {
		message += fmt.Sprintf(" %v=%s", pairs[i-1], logText(pairs[i]))
	}
	return label + paragraph(message, "  ") + "\n"
}

// logText is a value in a text line. It is quoted if its end could not be seen.
func logText(value any) string {
	text := fmt.Sprint(value)
	if d, ok := value.(time.Duration); ok {
		text = schema.Span(d)
	}
	if text == "" || strings.ContainsAny(text, " \t\n\"=") {
		return strconv.Quote(text)
	}
	return text
}

// logJSON is a line of the log as JSON.
func (s *Streams) logJSON(level, message string, pairs ...any) string {
	line := fmt.Sprintf(`{"time":%q,"level":%q,"message":%s`, s.Now().Format(timeFormat), level, compactJSON(message))
	for i := 1; i < len(pairs); i += 2 {
		key, value := fmt.Sprint(pairs[i-1]), pairs[i]
		switch v := value.(type) {
		case time.Duration:
			key, value = key+"_ms", hook.Milliseconds(v)
		case error, fmt.Stringer:
			value = fmt.Sprint(v)
		}
		line += "," + string(compactJSON(key)) + ":" + string(compactJSON(value))
	}
	return line + "}\n"
}
