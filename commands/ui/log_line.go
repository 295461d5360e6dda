package ui

import (
	"strconv"
	"time"
)

// LogLine prints a line of a plugin's log on standard output: the time, the plugin's
// name, or "pyplug" for what pyplug says of it, and the line; or the object that
// [Output.Line] prints, with its "schema". A line that has no stream is printed as it is.
func (s *Streams) LogLine(name string, at time.Time, generation int, stream, text string, jsonFace bool) error {
	if jsonFace {
		return s.writeOut(`{"schema":1,` + string(appendLogLine(name, at, generation, stream, text)[1:]))
	}
	var b []byte
	if stream != "" {
		label := name
		if stream == "pyplug" {
			label = stream
		}
		b = at.Local().AppendFormat(b, "2006-01-02 15:04:05.000 ")
		b = append(append(b, label...), " | "...)
	}
	b = appendEscaped(b, text, s.OutTTY, stream == "")
	return s.writeOut(string(append(b, '\n')))
}

func appendLogLine(name string, at time.Time, generation int, stream, text string) []byte {
	b := []byte(`{`)
	if !at.IsZero() {
		b = append(at.Local().AppendFormat(append(b, `"time":"`...), timeFormat), `",`...)
	}
	b = appendJSONText(append(b, `"plugin":`...), name)
	if generation != 0 {
		b = strconv.AppendInt(append(b, `,"generation":`...), int64(generation), 10)
	}
	if stream != "" {
		b = appendJSONText(append(b, `,"stream":`...), stream)
	}
	return append(appendJSONText(append(b, `,"line":`...), text), "}\n"...)
}
