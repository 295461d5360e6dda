package pysrc

// block is a compound statement that is open: its current clause.
type block struct {
	word   string // "if" also for "elif", "try" until its handlers
	indent int
	inside context // of what is in the clause
	// outer is the context of the statement itself.
	outer context
	// typing says what an if asks: whether this is for type checkers.
	typing answer
	// first and last bound what was found in the body of a try.
	first, last int
}

// context is what holds for the imports in a block.
type context struct {
	guarded, conditional bool
	defs                 int
}

// answer is how a condition depends on TYPE_CHECKING.
type answer uint8

const (
	other   answer = iota
	whenSet        // if TYPE_CHECKING
	whenNot        // if not TYPE_CHECKING
)

// context is that of the innermost open block.
func (w *walker) context() context {
	if len(w.blocks) == 0 {
		return context{}
	}
	return w.blocks[len(w.blocks)-1].inside
}

// continues says whether word goes on with the statement of b.
func (b block) continues(word string) bool {
	switch word {
	case "elif":
		return b.word == "if"
	case "else":
		return b.word == "if" || b.word == "for" || b.word == "while" || b.word == "try"
	case "except", "finally":
		return b.word == "try"
	}
	return false
}

// compound says whether a line that begins with word is a compound statement's.
func (w *walker) compound(word string, line []token) bool {
	switch word {
	case "if", "elif", "else", "for", "while", "try", "except", "finally", "with", "def", "class":
		return true
	case "match": // a name too
		return len(line) > 2 && w.is(line[len(line)-1], ":")
	case "case":
		n := len(w.blocks)
		return n > 0 && w.blocks[n-1].word == "match" && w.blocks[n-1].indent < w.indent
	}
	return false
}

// enter opens the block of a header, or the next clause of the one that is open.
func (w *walker) enter(word string, header []token) {
	if n := len(w.blocks); n > 0 {
		if b := &w.blocks[n-1]; b.indent == w.indent && b.continues(word) {
			w.clause(b, word, header)
			return
		}
	}
	outer := w.context()
	b := block{word: word, indent: w.indent, outer: outer, inside: outer, first: len(w.found), last: -1}
	switch word {
	case "if":
		b.typing = w.asks(header[1:])
		b.inside = b.then()
	case "for", "while", "case", "elif", "else", "except":
		b.inside.conditional = true
	case "def":
		b.inside.defs++
	case "with":
		b.inside.guarded = outer.guarded || w.suppresses(header)
	}
	w.blocks = append(w.blocks, b)
}

// clause goes on with b: what follows in it is in the clause that word opens.
func (w *walker) clause(b *block, word string, header []token) {
	if b.last < 0 {
		b.last = len(w.found)
	}
	asked := b.typing
	b.inside = b.outer
	switch {
	case word == "finally":
	case word == "elif":
		b.typing = w.asks(header[1:])
		b.inside = b.then()
		b.inside.conditional = b.inside.conditional || b.typing != whenSet
		b.typing = other // an else after it depends on both
	case word == "else" && asked == whenSet:
	case word == "else" && asked == whenNot:
		b.inside.guarded = true
	default:
		b.inside.conditional = true
	}
	if word == "except" && w.catches(header[1:]) {
		for i := b.first; i < b.last; i++ {
			if w.defs[i] == b.outer.defs {
				w.found[i].Guarded = true
			}
		}
	}
}

// then is the context of what is done when b's condition holds.
func (b block) then() context {
	in := b.outer
	switch b.typing {
	case whenSet:
		in.guarded = true
	case other:
		in.conditional = true
	}
	return in
}

// asks says how a condition depends on TYPE_CHECKING, whatever module that is
// taken from.
func (w *walker) asks(condition []token) answer {
	is := whenSet
	if len(condition) > 0 && w.is(condition[0], "not") {
		is, condition = whenNot, condition[1:]
	}
	for i, t := range condition {
		if i%2 == 0 && t.kind != name || i%2 == 1 && !w.is(t, ".") {
			return other
		}
	}
	if n := len(condition); n == 0 || !w.is(condition[n-1], "TYPE_CHECKING") {
		return other
	}
	return is
}

// catches says whether a handler for these exceptions catches an ImportError; one
// that names none does.
func (w *walker) catches(exceptions []token) bool {
	if len(exceptions) == 0 {
		return true
	}
	for i, t := range exceptions {
		if w.is(t, "as") {
			break
		}
		if t.kind != name || i > 0 && w.is(exceptions[i-1], ".") ||
			i+1 < len(exceptions) && w.is(exceptions[i+1], ".") {
			continue
		}
		switch w.of(t) {
		case "ImportError", "ModuleNotFoundError", "Exception", "BaseException":
			return true
		}
	}
	return false
}

// suppresses says whether the header of a with names contextlib's suppress and an
// ImportError.
func (w *walker) suppresses(header []token) bool {
	for i, t := range header {
		if t.depth == 0 && w.is(t, "suppress") {
			return w.catches(header[i:])
		}
	}
	return false
}
