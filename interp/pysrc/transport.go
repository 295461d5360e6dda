package pysrc

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Serves is what a file does of what a gRPC plugin does. A plugin may spread it over
// several of its files: see [Serves.With].
type Serves struct {
	// SDK is a library that the file imports, by which plugins serve their host.
	SDK string
	// ImportsGRPC: the file imports grpc, grpclib or betterproto.
	ImportsGRPC bool
	// PrintsHandshake: the file has a literal in the form of go-plugin's line, such as
	// f"1|1|tcp|127.0.0.1:{port}|grpc", or joins fields by bars and has the literal "grpc".
	PrintsHandshake bool

	joins, protocol bool // the two parts of the latter
}

// sdks are the modules by which a plugin serves a host of go-plugin.
var sdks = []string{
	"funppy", "hc_go_plugin_server",
	"pyplugin", // of the distribution python-plugin
	"pyvider.rpcplugin", "pyvider.cli",
	"tf.runner",
}

// With is what two files of one plugin do together.
func (s Serves) With(o Serves) Serves {
	joins, protocol := s.joins || o.joins, s.protocol || o.protocol
	return Serves{
		SDK:             cmp.Or(s.SDK, o.SDK),
		ImportsGRPC:     s.ImportsGRPC || o.ImportsGRPC,
		PrintsHandshake: s.PrintsHandshake || o.PrintsHandshake || joins && protocol,
		joins:           joins,
		protocol:        protocol,
	}
}

// Complete leaves out the parts of a line. They are in many libraries, and do not count there.
func (s Serves) Complete() Serves {
	s.joins, s.protocol = false, false
	return s
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

// quoted renders a literal for [servesOf].
func quoted(raw string, _ int) string { return "‹" + fill(raw) + "›" }

// servesOf looks at rendered code and its imports.
func servesOf(code string, imports []Import) Serves {
	var s Serves
	for _, imp := range imports {
		if imp.Level > 0 {
			continue
		}
		top, _, _ := strings.Cut(imp.Module, ".")
		s.ImportsGRPC = s.ImportsGRPC || slices.Contains([]string{"grpc", "grpclib", "betterproto"}, top)
		s.SDK = cmp.Or(s.SDK, imp.sdk())
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

// sdk returns which of sdks the import loads, "" if none.
func (i Import) sdk() string {
	for _, sdk := range sdks {
		if i.loads(sdk) {
			return sdk
		}
	}
	return ""
}

// loads reports whether the import loads a module, or one below it.
func (i Import) loads(wanted string) bool {
	loads := func(module string) bool { return module == wanted || strings.HasPrefix(module, wanted+".") }
	return loads(i.Module) || slices.ContainsFunc(i.Names, func(name string) bool { return loads(i.Module + "." + name) })
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
