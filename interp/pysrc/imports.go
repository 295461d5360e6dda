package pysrc

import "slices"

// Import is what one import statement asks for; "import a, b" is two.
type Import struct {
	// Module is the dotted name as written, "" in "from . import x".
	Module string
	// Level is how many dots stand before it: 0 is an absolute import.
	Level int
	// Names are what a from-import takes out of the module, which may be modules
	// too; "*" is everything. Nil for a plain import.
	Names []string
	// Line is where the statement begins, from 1.
	Line int
	// Guarded: its failure is caught (try with a handler for ImportError or
	// wider, suppress), or it is for type checkers only (if TYPE_CHECKING).
	Guarded bool
	// Local: it is within a function, or lazy; it is run later, if ever.
	Local bool
	// Conditional: it is run in some cases only, since it is in a branch, a loop
	// or an exception's handler.
	Conditional bool
}

// Hard says whether loading the module cannot succeed without this import.
func (i Import) Hard() bool { return !i.Guarded && !i.Local && !i.Conditional }

// Imports finds the import statements in text that [Decode] gave, in their
// order. What is in strings and comments is none; what is not valid Python is
// passed over.
func Imports(text string) []Import {
	w := walker{scanner: newScanner(text)}
	for w.logical() {
		w.visit()
	}
	return w.found
}

// walker follows the blocks of a text, logical line by logical line.
type walker struct {
	*scanner
	// tokens are those of the logical line, without what is in brackets within
	// brackets, which no import has.
	tokens []token
	blocks []block
	found  []Import
	defs   []int // how many functions each of them is in
}

// logical reads the next logical line; false at the end.
func (w *walker) logical() bool {
	w.tokens = w.tokens[:0]
	for {
		t := w.next()
		switch {
		case t.kind == endOfText:
			return false
		case t.kind == newline:
			return true
		case t.depth < 2:
			w.tokens = append(w.tokens, t)
		}
	}
}

// visit takes one logical line: the header of a compound statement, with what
// follows on its line, or simple statements.
func (w *walker) visit() {
	line := w.tokens
	word := w.of(line[0])
	if line[0].kind != name {
		word = ""
	}
	if word == "async" && len(line) > 1 {
		word = w.of(line[1])
	}
	for n := len(w.blocks); n > 0; n-- {
		top := w.blocks[n-1]
		if top.indent < w.indent || top.indent == w.indent && top.continues(word) {
			break
		}
		w.blocks = w.blocks[:n-1]
	}
	if !w.compound(word, line) {
		w.simple(line)
		return
	}
	colon := w.colon(line)
	w.enter(word, line[:colon])
	if colon+1 < len(line) {
		w.simple(line[colon+1:])
	}
}

// colon is the index of the colon that ends a header, len(line) if none does.
func (w *walker) colon(line []token) int {
	lambdas := 0
	for i, t := range line {
		switch {
		case t.depth > 0:
		case w.is(t, "lambda"):
			lambdas++
		case w.is(t, ":") && lambdas > 0:
			lambdas--
		case w.is(t, ":"):
			return i
		}
	}
	return len(line)
}

// simple takes the simple statements of a line.
func (w *walker) simple(line []token) {
	for len(line) > 0 {
		end := slices.IndexFunc(line, func(t token) bool { return t.depth == 0 && w.is(t, ";") })
		if end < 0 {
			end = len(line)
		}
		w.statement(line[:end])
		line = line[min(end+1, len(line)):]
	}
}

// statement takes one simple statement and keeps it if it is an import.
func (w *walker) statement(line []token) {
	if len(line) < 2 {
		return
	}
	start, lazy := line[0], false
	if w.is(line[0], "lazy") {
		line, lazy = line[1:], true
	}
	var parsed []Import
	switch p := (parser{walker: w, line: line[1:]}); {
	case w.is(line[0], "import"):
		parsed = p.plain()
	case w.is(line[0], "from"):
		parsed = p.from()
	}
	in := w.context()
	for _, i := range parsed {
		i.Line, i.Local = start.line, in.defs > 0 || lazy
		i.Guarded, i.Conditional = in.guarded, in.conditional
		w.found, w.defs = append(w.found, i), append(w.defs, in.defs)
	}
}

// parser reads the words after "import" or "from".
type parser struct {
	*walker
	line []token
}

// plain reads "a.b as c, d"; nil if that is not what stands there.
func (p *parser) plain() []Import {
	var all []Import
	for {
		module := p.dotted()
		if module == "" || !p.alias() {
			return nil
		}
		all = append(all, Import{Module: module})
		if len(p.line) == 0 {
			return all
		}
		if !p.take(",") {
			return nil
		}
	}
}

// from reads "..a.b import (c as d, e)"; nil if that is not what stands there.
func (p *parser) from() []Import {
	var i Import
	for p.take(".") {
		i.Level++
	}
	if len(p.line) > 0 && !p.is(p.line[0], "import") {
		i.Module = p.dotted()
	}
	if i.Module == "" && i.Level == 0 || !p.take("import") {
		return nil
	}
	if p.take("*") {
		i.Names = []string{"*"}
		return []Import{i}
	}
	p.take("(")
	for len(p.line) > 0 && p.line[0].kind == name {
		i.Names = append(i.Names, p.of(p.line[0]))
		p.line = p.line[1:]
		if !p.alias() {
			return nil
		}
		if !p.take(",") {
			break
		}
	}
	if p.take(")"); len(p.line) > 0 || len(i.Names) == 0 {
		return nil
	}
	return []Import{i}
}

// take takes word, if it comes next.
func (p *parser) take(word string) bool {
	if len(p.line) == 0 || !p.is(p.line[0], word) {
		return false
	}
	p.line = p.line[1:]
	return true
}

// alias passes over "as c", if that comes next; false if only half of it does.
func (p *parser) alias() bool {
	if !p.take("as") {
		return true
	}
	if len(p.line) == 0 || p.line[0].kind != name {
		return false
	}
	p.line = p.line[1:]
	return true
}

// dotted reads "a.b.c"; "" if it does not come next.
func (p *parser) dotted() string {
	var whole string
	for len(p.line) > 0 && p.line[0].kind == name {
		whole += p.of(p.line[0])
		p.line = p.line[1:]
		if !p.take(".") {
			return whole
		}
		whole += "."
	}
	return "" // nothing, or a dot at the end
}
