package interp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// askScript prints implementation and version between markers, because a
// sitecustomize or a wrapper may print as well. It is valid on every Python, so
// that one which is too old can say so.
const askScript = `import sys
v = sys.version_info
i = getattr(sys, "implementation", None)
sys.stdout.write("\036pyplug %s %d %d %d %s %d\036\n" % (getattr(i, "name", "cpython"), v[0], v[1], v[2], v[3], v[4]))`

var answer = expression("\x1epyplug (\\w+) (\\d+) (\\d+) (\\d+) (\\w+) (\\d+)\x1e")

// ask runs the Python at path to learn its version.
func ask(ctx context.Context, run RunFunc, path string) (Version, string, *Error) {
	out, said, err := run(ctx, path, []string{"-I", "-S", "-B", "-c", askScript})
	if err != nil && strings.Contains(said, "nknown option") {
		// Python 2 has no -I. Without it, it says its version.
		out, said, err = run(ctx, path, []string{"-E", "-S", "-B", "-c", askScript})
	}
	if err != nil {
		return Version{}, "", &Error{Path: path, Reason: ReasonNoAnswer, Detail: complaint(path, said, err), Err: err}
	}
	m := answer().FindSubmatch(out)
	if m == nil {
		return Version{}, "", &Error{Path: path, Reason: ReasonNoAnswer, Detail: "it ended well, but wrote " + excerpt(out)}
	}
	n := make([]int, len(m))
	for _, i := range [...]int{2, 3, 4, 6} {
		n[i], _ = strconv.Atoi(string(m[i]))
	}
	return Version{Major: n[2], Minor: n[3], Patch: n[4], Pre: preTag(string(m[5]), n[6])}, string(m[1]), nil
}

// preTag writes sys.version_info's level and serial as a version does.
func preTag(level string, serial int) string {
	if tag := preTags[level]; tag != "" {
		return fmt.Sprintf("%s%d", tag, serial)
	}
	return ""
}

// complaint says in a few words why a program did not answer. said is what it wrote on
// standard error.
func complaint(path, said string, err error) string {
	var errno syscall.Errno
	text := strings.TrimPrefix(err.Error(), path+": ")
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		text, _, _ = strings.Cut(text, ": "+context.DeadlineExceeded.Error())
	case errors.As(err, &errno):
		text = errno.Error()
	}
	text = shorten(strings.Join(strings.Fields(text), " "))
	if last := lastLine(said); last != "" {
		text += fmt.Sprintf(", %q", last)
	}
	return text
}

// lastLine is the last line of what a program complained of that does not repeat
// the script: some take the words they are asked by for names of files.
func lastLine(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		if line != "" && !slices.ContainsFunc(strings.Split(askScript, "\n"), func(ours string) bool { return strings.Contains(line, ours) }) {
			return shorten(line)
		}
	}
	return ""
}

// shorten cuts a text for a message.
func shorten(text string) string {
	const most = 80
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// excerpt is the start of what a program wrote, for a message.
func excerpt(out []byte) string {
	const most = 80
	if len(out) == 0 {
		return "nothing"
	}
	if len(out) > most {
		return fmt.Sprintf("%q and more", out[:most])
	}
	return fmt.Sprintf("%q", out)
}
