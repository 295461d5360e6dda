package grpcplugin

import (
	"slices"
	"strings"
	"testing"
)

// TestInterruptDropped checks that only the traceback of pyplug's own interrupt is dropped.
func TestInterruptDropped(t *testing.T) {
	const frame = "Traceback (most recent call last):\n  File \"p.py\", line 1, in <module>\n    wait()\n"
	for name, test := range map[string]struct{ printed, want string }{
		"interrupt": {"a\n" + frame + "KeyboardInterrupt\nb", "a\nb"},
		"chained": {frame + "asyncio.CancelledError\n\nDuring handling of the above exception, another exception occurred:\n\n" +
			frame + "KeyboardInterrupt\nb", "b"},
		"ignored": {frame + "KeyboardInterrupt\nException ignored in: <function Server.__del__ at 0x7f>\n" + frame +
			"RuntimeError: Event loop is closed\nsys:1: RuntimeWarning: coroutine 'AioServer.shutdown' was never awaited\nb", "b"},
		"loop closed alone": {frame + "RuntimeError: Event loop is closed\nb", frame + "RuntimeError: Event loop is closed\nb"},
		"another ignored":   {"Exception ignored in: <f>\n" + frame + "ValueError: no\nb", "Exception ignored in: <f>\n" + frame + "ValueError: no\nb"},
		"another before":    {frame + "ValueError: no\n" + frame + "KeyboardInterrupt\nb", frame + "ValueError: no\nb"},
		"another":           {frame + "ValueError: no\nb", frame + "ValueError: no\nb"},
		"another, last":     {frame + "ValueError: no", frame + "ValueError: no"},
		"cut off":           {"a\n" + strings.TrimSuffix(frame, "\n"), "a"},
		"none":              {"a\n  b\n\nc", "a\n  b\n\nc"},
	} {
		var printed []string
		o := &output{print: func(_, text string, _ int) { printed = append(printed, text) }}
		o.stop()
		for line := range strings.SplitSeq(test.printed, "\n") {
			o.line("stderr", line, 0)
		}
		o.end()
		if want := strings.Split(test.want, "\n"); !slices.Equal(printed, want) {
			t.Errorf("%s: got %q, want %q", name, printed, want)
		}
	}
}
