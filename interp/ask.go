package interp

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// askScript prints the implementation and the version between markers, because a wrapper may
// print, too. Every Python can run it, so that an old one reports its version.
const askScript = `import sys; v = sys.version_info; i = getattr(sys, "implementation", None); ` +
	`sys.stdout.write("\036pyplug %s %d %d %d %s %d\036\n" % (getattr(i, "name", "cpython"), v[0], v[1], v[2], v[3], v[4]))`

var answer = expression("\x1epyplug (\\w+) (\\d+) (\\d+) (\\d+) (\\w+) (\\d+)\x1e")

// ask runs the Python at path and returns its version.
func ask(ctx context.Context, run RunFunc, path string) (v Version, implementation string, broken *Attempt) {
	out, said, err := run(ctx, path, []string{"-I", "-S", "-B", "-c", askScript})
	m := answer().FindSubmatch(out)
	if err == nil && m != nil {
		n := make([]int, len(m))
		for _, i := range [...]int{2, 3, 4, 6} {
			n[i], _ = strconv.Atoi(string(m[i]))
		}
		v := Version{Major: n[2], Minor: n[3], Patch: n[4], Pre: preTag(string(m[5]), n[6])}
		return v, string(m[1]), nil
	}
	why := "it exited with code 0, but printed " + strconv.Quote(shorten(string(out)))
	if err != nil {
		why = shorten(strings.TrimPrefix(err.Error(), path+": "))
		if lines := strings.Split(strings.TrimSpace(said), "\n"); lines[0] != "" {
			why += fmt.Sprintf(", %q", shorten(lines[len(lines)-1]))
		}
	}
	return Version{}, "", problem(NotPython, path, "is not a Python: it did not print its version (%s)", why)
}

// preTag formats the level and the serial of sys.version_info as a tag such as "rc2". A release
// has none.
func preTag(level string, serial int) string {
	if tag := preTags[level]; tag != "" {
		return fmt.Sprintf("%s%d", tag, serial)
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
