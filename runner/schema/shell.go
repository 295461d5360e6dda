package schema

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// QuoteLine joins words so that a POSIX shell splits the line into the same words. Only
// bash, zsh and ksh read words that are not UTF-8. zsh expands a word that begins with "=".
func QuoteLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		switch {
		case !utf8.ValidString(w):
			q := strconv.Quote(w)
			w = "$'" + strings.ReplaceAll(q[1:len(q)-1], "'", `\'`) + "'"
		case w == "" || w[0] == '=' || strings.ContainsFunc(w, needsQuote):
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted[i] = w
	}
	return strings.Join(quoted, " ")
}

func needsQuote(r rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,", r) && r < 0x80
}

// linePart matches the beginning of a line: blanks, a continued line end, an escaped character,
// text in quotes of either kind, or plain text.
var linePart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^(?:([ \t\n]+)|\\\n|\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)"|([^ \t\n\\'"]+))`)
})

// unescape replaces escapes in double quotes. Before other characters a backslash is literal.
var unescape = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\$`, `$`, "\\`", "`", "\\\n", "")

// SplitLine splits a line into words as a shell does: quotes of both kinds, and backslashes. It
// expands nothing.
func SplitLine(text string) ([]string, error) {
	var words []string
	for begun := false; text != ""; {
		part := linePart().FindStringSubmatch(text)
		switch {
		case part == nil && text[0] == '\\':
			return nil, errors.New("nothing follows the last backslash")
		case part == nil:
			return nil, fmt.Errorf("a %c is not closed", text[0])
		case part[0] == "\\\n": // the line continues
		case part[1] != "":
			begun = false
		default:
			if !begun {
				words = append(words, "")
			}
			words[len(words)-1] += part[2] + part[3] + unescape.Replace(part[4]) + part[5]
			begun = true
		}
		text = text[len(part[0]):]
	}
	return words, nil
}
