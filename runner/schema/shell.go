package schema

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// QuoteLine joins words so that a POSIX shell splits the line into the same words. Only
// bash, zsh and ksh read words that are not UTF-8.
func QuoteLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		switch {
		case !utf8.ValidString(w):
			q := strconv.Quote(w)
			w = "$'" + strings.ReplaceAll(q[1:len(q)-1], "'", `\'`) + "'"
		case w == "" || strings.ContainsFunc(w, needsQuote):
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted[i] = w
	}
	return strings.Join(quoted, " ")
}

func needsQuote(r rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,", r) && r < 0x80
}

// SplitLine splits a line into words as a shell does: quotes of both kinds, and backslashes. It
// expands nothing.
func SplitLine(text string) ([]string, error) {
	var words []string
	var word []byte
	in := false // a word has begun
	for text != "" {
		var part, quote string
		var err error
		switch c := text[0]; {
		case strings.HasPrefix(text, "\\\n"): // the line goes on
			text = text[2:]
			continue
		case c == ' ' || c == '\t' || c == '\n':
			if in {
				words = append(words, string(word))
			}
			word, in, text = nil, false, text[1:]
			continue
		case text == "\\":
			return nil, errors.New("nothing follows the last backslash")
		case c == '\\':
			_, size := utf8.DecodeRuneInString(text[1:])
			part, text = text[1:1+size], text[1+size:]
		case c == '\'':
			quote = "'"
			part, text, err = verbatim(text[1:])
		case c == '"':
			quote = `"`
			part, text, err = escaped(text[1:])
		default:
			part, text = text[:1], text[1:]
		}
		if err != nil {
			return nil, fmt.Errorf("a %s %w", quote, err)
		}
		word, in = append(word, part...), true
	}
	if in {
		words = append(words, string(word))
	}
	return words, nil
}

var errNotClosed = errors.New("is not closed")

// verbatim reads to the next single quote.
func verbatim(text string) (part, rest string, err error) {
	part, rest, closed := strings.Cut(text, "'")
	if !closed {
		return "", "", errNotClosed
	}
	return part, rest, nil
}

// escaped reads to the next double quote. A backslash is literal unless it precedes ", \, $, `
// or a newline.
func escaped(text string) (part, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			return b.String(), text[i+1:], nil
		case c == '\\' && i+1 < len(text) && strings.IndexByte("\"\\$`\n", text[i+1]) >= 0:
			if i++; text[i] == '\n' {
				continue
			}
			c = text[i]
		}
		b.WriteByte(c)
	}
	return "", "", errNotClosed
}
