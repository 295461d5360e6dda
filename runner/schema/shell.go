package schema

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// QuoteLine writes words as a POSIX shell reads them; what is not UTF-8 as bash, zsh and ksh
// read it.
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

// SplitLine splits a line into words as a shell does: blanks separate, quotes of
// both kinds and backslashes keep together. Nothing is expanded.
func SplitLine(text string) ([]string, error) {
	var words []string
	var word []rune
	var quote rune
	in, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`", r) {
				word = append(word, '\\') // it is one only before these
			}
			word, escaped = append(word, r), false
		case r == '\\' && quote != '\'':
			in, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			in, quote = true, r
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if in {
				words = append(words, string(word))
			}
			word, in = nil, false
		default:
			word, in = append(word, r), true
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("a %c is not closed", quote)
	case escaped:
		return nil, errors.New("nothing follows the last backslash")
	case in:
		words = append(words, string(word))
	}
	return words, nil
}
