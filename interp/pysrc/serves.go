package pysrc

import (
	"slices"
	"strings"
)

// Hints is what a file does of what a gRPC plugin does. A plugin may leave part
// of it to what it imports: see [Hints.Or].
type Hints struct {
	// ImportsGRPC: it imports grpc, or grpclib.
	ImportsGRPC bool
	// MakesServer: it calls grpc.server, grpc.aio.server or grpclib's Server,
	// under whatever name it imported them.
	MakesServer bool
	// PrintsHandshake: it has a literal in the form of go-plugin's line, such as
	// f"1|1|tcp|127.0.0.1:{port}|grpc", or puts one together from "grpc" and "|".
	PrintsHandshake bool
}

// Or is what two files do together.
func (h Hints) Or(o Hints) Hints {
	return Hints{h.ImportsGRPC || o.ImportsGRPC, h.MakesServer || o.MakesServer, h.PrintsHandshake || o.PrintsHandshake}
}

// Plugin says whether a script that does this by itself is a gRPC plugin. What it
// imports is held to more: libraries make servers for many reasons, so there only
// PrintsHandshake tells a plugin's SDK.
func (h Hints) Plugin() bool { return h.MakesServer || h.PrintsHandshake }

// Serves looks for hints in text that [Decode] gave, without what it imports.
// Comments and docstrings do not count.
func Serves(text string) Hints {
	if !strings.Contains(text, "grpc") && !strings.Contains(text, "|") {
		return Hints{}
	}
	l := looker{scanner: newScanner(text), bound: map[string]string{}}
	for _, s := range statements(text) {
		l.bind(s)
	}
	l.look()
	return l.found
}

// servers are the calls that make a server.
var servers = []string{"grpc.server", "grpc.aio.server", "grpc.experimental.aio.server", "grpclib.server.Server"}

// longest is how long a literal may be that is taken for part of a line.
const longest = 1000

// looker goes through a text's tokens.
type looker struct {
	*scanner
	bound map[string]string // names, and what of gRPC they stand for
	found Hints
	// Seen so far, for lines that are put together: the literals "grpc", and "tcp"
	// or "unix"; "|".join; and a format whose fields are all filled in.
	grpc, network, join, filled bool
}

// bind notes the names by which an import makes gRPC known.
func (l *looker) bind(s statement) {
	top, _, _ := strings.Cut(s.Module, ".")
	if s.Level > 0 || top != "grpc" && top != "grpclib" {
		return
	}
	l.found.ImportsGRPC = true
	if s.Names == nil {
		if s.as[0] == "" {
			l.bound[top] = top
		} else {
			l.bound[s.as[0]] = s.Module
		}
		return
	}
	for i, name := range s.Names {
		if name == "*" {
			for _, server := range servers {
				if rest, ok := strings.CutPrefix(server, s.Module+"."); ok {
					first, _, _ := strings.Cut(rest, ".")
					l.bound[first] = s.Module + "." + first
				}
			}
			continue
		}
		as := s.as[i]
		if as == "" {
			as = name
		}
		l.bound[as] = s.Module + "." + name
	}
}

// look goes through all tokens.
func (l *looker) look() {
	var before token // the one before t
	fresh := true    // t begins a statement
	for t := l.next(); t.kind != endOfText; {
		switch {
		case t.kind == quoted && !fresh:
			l.literal(t)
		case t.kind == name && !l.is(before, ".") && !l.is(before, "def") && !l.is(before, "class"):
			var last token
			if last, t = l.call(t); last.kind != endOfText {
				before, fresh = last, false
				continue // t is already the next one
			}
		}
		fresh = t.kind == newline || t.depth == 0 && (l.is(t, ";") || l.is(t, ":"))
		before, t = t, l.next()
	}
	l.found.PrintsHandshake = l.found.PrintsHandshake || l.grpc && (l.join && l.network || l.filled)
}

// call follows the dots after a name that stands for something of gRPC, and notes
// it if it is called to make a server. It gives the last token that it took, which
// is none for another name, and the one after that.
func (l *looker) call(t token) (last, after token) {
	whole, ok := l.bound[l.of(t)]
	if !ok {
		return token{}, t
	}
	last, after = t, l.next()
	for l.is(after, ".") {
		if last, after = after, l.next(); after.kind != name {
			return last, after
		}
		whole += "." + l.of(after)
		last, after = after, l.next()
	}
	if l.is(after, "(") && slices.Contains(servers, whole) {
		l.found.MakesServer = true
	}
	return last, after
}

// literal notes what a string literal says.
func (l *looker) literal(t token) {
	text := l.of(t)
	if len(text) > longest {
		return
	}
	_, text, _ = strings.Cut(strings.ReplaceAll(text, `"`, `'`), `'`)
	switch text = strings.Trim(text, `'`); {
	case text == "grpc":
		l.grpc = true
	case text == "tcp" || text == "unix":
		l.network = true
	case text == "|":
		l.join = l.join || strings.HasPrefix(l.text[t.end:], ".join(")
	case strings.HasPrefix(text, "|tcp|"), strings.HasPrefix(text, "|unix|"):
		l.found.PrintsHandshake = true // the middle of a sum
	case strings.Count(text, "|") >= 3:
		l.fields(strings.Split(fill(text), "|"))
	}
}

// fields notes what could be the fields of a line. What is filled in when the
// program runs is "%".
func (l *looker) fields(fields []string) {
	if len(fields) < 4 { // some bars were in a format's braces
		return
	}
	core, network, protocol := strings.TrimSpace(fields[0]), fields[2], ""
	if len(fields) > 4 {
		protocol = strings.TrimSuffix(strings.TrimSpace(fields[4]), `\n`)
	}
	if core != "1" && core != "%" || strings.ContainsAny(fields[1]+network+fields[3], " \t") {
		return
	}
	switch known := network == "tcp" || network == "unix"; {
	case known && (core == "1" || protocol != ""), network == "%" && (protocol == "grpc" || protocol == "netrpc"):
		l.found.PrintsHandshake = true
	case core == "%" && network == "%" && protocol == "%":
		l.filled = true
	}
}

// fill puts "%" for what a format fills in: {…}, or %s and its like.
func fill(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '{':
			depth := 1
			for i++; i < len(text) && depth > 0; i++ {
				switch text[i] {
				case '{':
					depth++
				case '}':
					depth--
				}
			}
			i--
			b.WriteByte('%')
		case c == '%' && i+1 < len(text) && strings.IndexByte("sdir", text[i+1]) >= 0:
			i++
			b.WriteByte('%')
		case c == '%' && i+1 < len(text) && text[i+1] == '(':
			if end := strings.IndexByte(text[i:], ')'); end > 0 {
				i = min(i+end+1, len(text)-1)
			}
			b.WriteByte('%')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
