package pysrc

import "strings"

// Hints is what a file does of what a gRPC plugin does. A plugin may leave part
// of it to what it imports: see [Hints.Or].
type Hints struct {
	// ImportsGRPC: it imports grpc, or grpclib.
	ImportsGRPC bool
	// PrintsHandshake: it has a literal in the form of go-plugin's line, such as
	// f"1|1|tcp|127.0.0.1:{port}|grpc", or puts one together from "grpc" and "|".
	PrintsHandshake bool
	// parts of a line that the files of one plugin may share among them.
	parts lineParts
}

// lineParts are what a line is put together from.
type lineParts struct {
	shape    bool // five fields or more with bars between them, whatever they are
	protocol bool // "grpc"
	network  bool // "tcp" or "unix"
}

// Or is what two files of one plugin do together.
func (h Hints) Or(o Hints) Hints {
	p := lineParts{h.parts.shape || o.parts.shape, h.parts.protocol || o.parts.protocol, h.parts.network || o.parts.network}
	whole := p.shape && p.protocol && p.network
	return Hints{h.ImportsGRPC || o.ImportsGRPC, h.PrintsHandshake || o.PrintsHandshake || whole, p}
}

// Alone is what a file does by itself. Of a library no more counts, because parts
// of a line are in many.
func (h Hints) Alone() Hints {
	h.parts = lineParts{}
	return h
}

// Serves looks for hints in text that [Decode] gave, without what it imports.
// Comments and docstrings do not count.
func Serves(text string) Hints {
	if !mayServe(text) {
		return Hints{}
	}
	l := looker{scanner: newScanner(text)}
	l.look()
	p := l.found.parts
	l.found.PrintsHandshake = l.found.PrintsHandshake || p.protocol && (p.shape || p.network && l.joins)
	return l.found
}

// mayServe tells quickly of most files that they do nothing of it. A bar alone is
// in every annotation.
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

// longest is how much is looked at of a literal: a line is shorter, a descriptor is
// not.
const longest = 1000

// looker goes through a text's tokens.
type looker struct {
	*scanner
	found Hints
	first token // of this statement
	bars  int   // how many literals "|" this statement has
	// joins: something is put together with bars, of how many fields nobody knows.
	joins  bool
	commas []int // how many there are so far in each of the brackets that are open
	// joined is how many brackets are open around "|".join(…), 0 outside of it.
	joined int
}

// look goes through all tokens.
func (l *looker) look() {
	var before token // the one before t
	fresh := true    // t begins a statement
	for t := l.next(); t.kind != endOfText; {
		if fresh {
			l.first = t
		}
		after := token{}
		switch t.kind {
		case quoted:
			var text string
			text, t, after = l.literals(t)
			if docstring := fresh && (after.kind == newline || l.is(after, ";")); !docstring {
				l.literal(text, before, t)
			}
		case newline:
			l.bars = 0
		case name:
			l.module(before, t)
		case sign:
			l.bracket(t)
		}
		fresh = t.kind == newline || t.depth == 0 && (l.is(t, ";") || l.is(t, ":")) || fresh && l.is(t, "lazy")
		if before = t; t.kind == quoted {
			t = after
		} else {
			t = l.next()
		}
	}
}

// module notes a name that an import statement has for gRPC.
func (l *looker) module(before, t token) {
	switch {
	case !l.is(t, "grpc") && !l.is(t, "grpclib"):
	case l.is(l.first, "from") && before == l.first,
		l.is(l.first, "import") && (before == l.first || l.is(before, ",")):
		l.found.ImportsGRPC = true
	}
}

// bracket counts what is between brackets, by its commas. A line has five fields
// to seven.
func (l *looker) bracket(t token) {
	switch top := len(l.commas) - 1; l.text[t.start] {
	case '(', '[', '{':
		l.commas = append(l.commas, 0)
	case ',':
		if top >= 0 {
			l.commas[top]++
		}
	case ')', ']', '}':
		if top < 0 {
			return
		}
		if l.joined > 0 && l.commas[top] >= 4 && l.commas[top] <= 7 {
			l.found.parts.shape = true
		}
		if l.commas = l.commas[:top]; top < l.joined {
			l.joined = 0
		}
	}
}

// literals reads the literals that stand side by side, which Python makes one. It
// gives what is between their quotes, the last of them, and the token after it.
func (l *looker) literals(t token) (text string, last, after token) {
	for {
		literal := l.of(t)
		literal = literal[:min(len(literal), longest)]
		_, literal, _ = strings.Cut(strings.ReplaceAll(literal, `"`, `'`), `'`)
		text += strings.Trim(literal, `'`)
		if last, after = t, l.next(); after.kind != quoted || len(text) >= longest {
			return text, last, after
		}
		t = after
	}
}

// literal notes what a literal says. before is the token before it, last the last
// one of its own.
func (l *looker) literal(text string, before, last token) {
	switch text = strings.TrimSuffix(text, `\n`); {
	case text == "grpc":
		l.found.parts.protocol = true
	case text == "tcp" || text == "unix":
		l.found.parts.network = true
	case text == "|":
		l.bar(before, last)
	case strings.HasPrefix(text, "|tcp|"), strings.HasPrefix(text, "|unix|"),
		strings.HasPrefix(text+"|", "|grpc|"):
		l.found.PrintsHandshake = true // the middle of a sum, or its end
	case strings.Count(text, "|") >= 2:
		l.fields(strings.Split(fill(text), "|"))
	}
}

// bar notes what is done with "|": that it is added up with others, that it joins
// fields, or that it is given a name, as in print(…, sep="|").
func (l *looker) bar(before, last token) {
	if l.bars++; l.bars >= 4 {
		l.found.parts.shape = true
	}
	switch top := len(l.commas) - 1; {
	case strings.HasPrefix(l.text[last.end:], ".join("):
		l.joins, l.joined = true, len(l.commas)+1
	case l.is(before, "=") && wordByte(l.lastBefore(before)):
		l.joins = true
		if top >= 0 && l.commas[top] >= 5 {
			l.found.parts.shape = true
		}
	}
}

// lastBefore is the character before a token, without spaces.
func (l *looker) lastBefore(t token) byte {
	text := strings.TrimRight(l.text[:t.start], " ")
	if text == "" {
		return 0
	}
	return text[len(text)-1]
}

// fields notes what could be the fields of a line. What is filled in when the
// program runs is "%".
func (l *looker) fields(fields []string) {
	core := strings.TrimSpace(fields[0])
	if len(fields) < 3 || core != "1" && core != "%" || strings.ContainsAny(strings.Join(fields[1:min(len(fields), 4)], ""), " \t") {
		return // of fewer than three, some bars were in a format's braces
	}
	if len(fields) == 3 {
		if core == "1" && fields[2] == "" {
			l.found.parts.shape = true // the start of a sum
		}
		return
	}
	network, protocol := fields[2], ""
	if len(fields) > 4 {
		protocol = strings.TrimSpace(fields[4])
	}
	switch known := network == "tcp" || network == "unix"; {
	case known && (core == "1" || protocol != ""), network == "%" && (protocol == "grpc" || protocol == "netrpc"):
		l.found.PrintsHandshake = true
	case network == "%" && protocol == "%":
		l.found.parts.shape = true
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
		case c == '%' && i+1 < len(text) && strings.IndexByte("sdirba", text[i+1]) >= 0:
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
