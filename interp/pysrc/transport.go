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
	// f"1|1|tcp|127.0.0.1:{port}|grpc", or joins one from "grpc" and "|".
	PrintsHandshake bool

	// What a line is joined from: five or more fields with bars between them, a bar
	// that joins any number of fields, the literal "grpc", and "tcp" or "unix".
	fields, joins, protocol, network bool
}

// With is what two files of one plugin do together.
func (s Serves) With(o Serves) Serves {
	s.ImportsGRPC = s.ImportsGRPC || o.ImportsGRPC
	s.fields = s.fields || o.fields
	s.protocol = s.protocol || o.protocol
	s.network = s.network || o.network
	s.PrintsHandshake = s.PrintsHandshake || o.PrintsHandshake || s.fields && s.protocol && s.network
	return s
}

// Alone is what a file of a library does: parts of a line are in many.
func (s Serves) Alone() Serves {
	return Serves{ImportsGRPC: s.ImportsGRPC, PrintsHandshake: s.PrintsHandshake}
}

// In rendered code ‹ and › stand for the quotes of a literal, and % for what a format
// fills in. All expressions match inside one logical line.
const (
	wholeLine = `‹\s*(?:1\|[^|\s›]*\|(?:tcp|unix)\||%\|[^|\s›]*\|(?:tcp|unix)\|[^|›]*\|\s*[^|\s›]|[1%]\|[^|\s›]*\|%\|[^|›]*\|\s*(?:grpc|netrpc)\s*(?:[|›]|\\n))`
	partOfSum = `‹\|(?:tcp|unix)\||‹\|grpc(?:\||(?:\\n)?›)`

	fiveFields = `‹\s*[1%]\|[^|\s›]*\|%\|[^|›]*\|\s*%|‹1\|[^|\s›]*\|›`
	fourBars   = `‹\|›[^;]*‹\|›[^;]*‹\|›[^;]*‹\|›`
	fiveJoined = `‹\|›\.join\((?:[^,;]*,){4}`
	separated  = `\((?:[^,;]*,){5}[^;]*\w\s*=\s*‹\|›`

	anyJoined = `‹\|›\.join\(`
	named     = `\w\s*=\s*‹\|›`
)

// expressions are compiled when they are first needed: most files need none.
var expressions = sync.OnceValue(func() (x struct{ line, fields, separated, joins, named *regexp.Regexp }) {
	x.line = regexp.MustCompile(wholeLine + "|" + partOfSum)
	x.fields = regexp.MustCompile(fiveFields + "|" + fourBars + "|" + fiveJoined)
	x.joins, x.named, x.separated = regexp.MustCompile(anyJoined), regexp.MustCompile(named), regexp.MustCompile(separated)
	return x
})

// LooksServing looks for what serves in text that [Decode] returned. Comments and
// docstrings do not count.
func LooksServing(text string) Serves {
	if !mayServe(text) {
		return Serves{}
	}
	return servesOf(render(text, quoted))
}

// quoted renders a literal for [servesOf].
func quoted(raw string, _ int) string { return "‹" + fill(raw) + "›" }

// servesOf looks at rendered code.
func servesOf(code string) Serves {
	var s Serves
	for _, imp := range importsOf(code) {
		top, _, _ := strings.Cut(imp.Module, ".")
		s.ImportsGRPC = s.ImportsGRPC || imp.Level == 0 && (top == "grpc" || top == "grpclib")
	}
	x := expressions()
	for line := range strings.Lines(code) {
		// A line that begins with a literal is a docstring, or does nothing.
		if !strings.Contains(line, "‹") || strings.HasPrefix(strings.TrimLeft(line, " \t"), "‹") {
			continue
		}
		if strings.Count(line, "‹") > 1 {
			line = adjacent().ReplaceAllString(line, "")
		}
		s.protocol = s.protocol || strings.Contains(line, "‹grpc›") || strings.Contains(line, `‹grpc\n›`)
		s.network = s.network || strings.Contains(line, "‹tcp›") || strings.Contains(line, "‹unix›")
		if !strings.Contains(line, "|") {
			continue
		}
		s.PrintsHandshake = s.PrintsHandshake || x.line.MatchString(line)
		s.fields = s.fields || x.fields.MatchString(line)
		s.joins = s.joins || x.joins.MatchString(line)
		if (!s.joins || !s.fields) && strings.Contains(line, "‹|›") && x.named.MatchString(line) {
			s.joins, s.fields = true, s.fields || x.separated.MatchString(line)
		}
	}
	s.PrintsHandshake = s.PrintsHandshake || s.protocol && (s.fields || s.network && s.joins)
	return s
}

// adjacent matches what stands between two literals that Python makes one.
var adjacent = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`›\s*‹`) })

// mayServe rules out most files quickly. A bar alone is in every annotation.
func mayServe(text string) bool {
	if strings.Contains(text, "grpc") {
		return true
	}
	for _, bar := range [...]string{`"|"`, `'|'`, "}|", "|%", "|tcp|", "|unix|"} {
		if strings.Contains(text, bar) {
			return true
		}
	}
	return false
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
