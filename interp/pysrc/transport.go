package pysrc

import (
	"regexp"
	"strings"
	"sync"
)

// Serves is what a file does of what a gRPC plugin does. A plugin may spread it over
// several of its files: see [Serves.With].
type Serves struct {
	// ImportsGRPC: the file imports grpc or grpclib.
	ImportsGRPC bool
	// PrintsHandshake: the file has a literal in the form of go-plugin's line, such as
	// f"1|1|tcp|127.0.0.1:{port}|grpc", or joins fields by bars and has the literal "grpc".
	PrintsHandshake bool

	joins, protocol bool // the two parts of the latter
}

// With is what two files of one plugin do together.
func (s Serves) With(o Serves) Serves {
	joins, protocol := s.joins || o.joins, s.protocol || o.protocol
	return Serves{
		ImportsGRPC:     s.ImportsGRPC || o.ImportsGRPC,
		PrintsHandshake: s.PrintsHandshake || o.PrintsHandshake || joins && protocol,
		joins:           joins,
		protocol:        protocol,
	}
}

// LibraryServes is [LooksServing] of a file of a library: parts of a line are in many, and
// do not count.
func LibraryServes(text string) Serves {
	if !strings.Contains(text, "grpc") && !strings.Contains(text, "tcp|") && !strings.Contains(text, "unix|") {
		return Serves{} // most files are not worth a closer look
	}
	s := LooksServing(text)
	return Serves{ImportsGRPC: s.ImportsGRPC, PrintsHandshake: s.PrintsHandshake}
}

// expressions are compiled when they are first needed: most files need none. In rendered
// code ‹ and › stand for the quotes of a literal, and % for what a format fills in. All
// match inside one logical line.
var expressions = sync.OnceValue(func() (x struct{ adjacent, line, joins, protocol *regexp.Regexp }) {
	x.adjacent = regexp.MustCompile(`›\s*‹`) // Python makes one literal of the two
	x.line = regexp.MustCompile(`‹\s*(?:[1%]\|[^|\s›]*)?\|(?:tcp|unix)\|`)
	x.joins = regexp.MustCompile(`‹\s*[1%]\|[^|\s›]*\|(?:%|›)|‹\|›\.join\(|(?:\w\s*=|\+)\s*‹\|›`)
	x.protocol = regexp.MustCompile(`[‹|]grpc(?:\\n)?(?:\||›)`)
	return x
})

// LooksServing looks for what serves in text that [Decode] returned. Comments and
// docstrings do not count.
func LooksServing(text string) Serves {
	code := render(text, quoted)
	return servesOf(code, importsOf(code))
}

// quoted renders a literal for [servesOf].
func quoted(raw string, _ int) string { return "‹" + fill(raw) + "›" }

// servesOf looks at rendered code and its imports.
func servesOf(code string, imports []Import) Serves {
	var s Serves
	for _, imp := range imports {
		top, _, _ := strings.Cut(imp.Module, ".")
		s.ImportsGRPC = s.ImportsGRPC || imp.Level == 0 && (top == "grpc" || top == "grpclib")
	}
	for line := range strings.Lines(code) {
		// A line that begins with a literal is a docstring, or does nothing.
		if !strings.Contains(line, "‹") || strings.HasPrefix(strings.TrimLeft(line, " \t"), "‹") ||
			!strings.Contains(line, "|") && !strings.Contains(line, "grpc") {
			continue
		}
		x := expressions()
		if strings.Count(line, "‹") > 1 {
			line = x.adjacent.ReplaceAllString(line, "")
		}
		s.PrintsHandshake = s.PrintsHandshake || x.line.MatchString(line)
		s.joins = s.joins || x.joins.MatchString(line)
		s.protocol = s.protocol || strings.Contains(line, "grpc") && x.protocol.MatchString(line)
	}
	return s.With(Serves{})
}

// longest is how much is looked at of a literal: a handshake is shorter, a descriptor
// is not.
const longest = 1000

// fill returns the inside of a literal in one line, with % for what a format fills in:
// {…}, %s and its like.
func fill(raw string) string {
	raw = raw[:min(len(raw), longest)]
	_, text, _ := strings.Cut(strings.ReplaceAll(raw, `"`, `'`), `'`)
	text = strings.ReplaceAll(strings.Trim(text, `'`), "\n", " ")
	if !strings.ContainsAny(text, "{%") {
		return text
	}
	return format().ReplaceAllString(text, "%")
}

var format = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{(?:[^{}]|\{[^{}]*\})*\}|%\(\w*\)[sdirba]?|%[sdirba]`)
})
