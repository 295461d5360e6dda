package schema

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"
)

// QuoteLine joins words so that a shell splits the line into the same words: a POSIX shell, or on
// Windows cmd and PowerShell 7.3. Only bash, zsh and ksh read words that are not UTF-8. zsh expands
// a word that begins with "=".
func QuoteLine(words []string) string {
	quote := quotePOSIX
	if runtime.GOOS == "windows" {
		quote = quoteWindows
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

const unquoted = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:="

func quotePOSIX(w string) string {
	switch {
	case !utf8.ValidString(w):
		q := strconv.Quote(w)
		return "$'" + strings.ReplaceAll(q[1:len(q)-1], "'", `\'`) + "'"
	case needsQuote(w, unquoted+"@%+,") || w[0] == '=':
		return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return w
}

// quoteWindows quotes a word for cmd and PowerShell. It does not protect a $ or a ` from
// PowerShell, or a variable in % from cmd. Two quotes, and two backslashes before a quote, are read
// as one.
func quoteWindows(w string) string {
	if !needsQuote(w, unquoted+`\+`) {
		return w
	}
	var quoted strings.Builder
	quoted.WriteByte('"')
	for rest := w; rest != ""; {
		plain := strings.TrimLeft(rest, `\`)
		slashes := rest[:len(rest)-len(plain)]
		quoted.WriteString(slashes)
		switch {
		case plain == "":
			quoted.WriteString(slashes)
		case plain[0] == '"':
			quoted.WriteString(slashes + `""`)
			plain = plain[1:]
		default:
			quoted.WriteByte(plain[0])
			plain = plain[1:]
		}
		rest = plain
	}
	quoted.WriteByte('"')
	return quoted.String()
}

func needsQuote(w, plain string) bool {
	return w == "" || strings.ContainsFunc(w, func(r rune) bool { return !strings.ContainsRune(plain, r) && r < 0x80 })
}

// syntax describes how a line is split into words.
type syntax struct {
	// part matches the beginning of a line: blanks, an escaped line end, an escaped character, text
	// in quotes of either kind, or plain text.
	part *regexp.Regexp
	// unescape replaces the escapes in double quotes.
	unescape *strings.Replacer
}

// splitting returns the syntax of POSIX shells or of Windows. In double quotes, POSIX shells read a
// backslash literally before most characters. On Windows a backslash is literal, and "" in double
// quotes is a quote.
func splitting(windows bool) syntax {
	if windows {
		return syntax{
			regexp.MustCompile(`(?s)^(?:([ \t\r\n]+)|(\z.)|(\z.)|'([^']*)'|"((?:[^"]|"")*)"|([^ \t\r\n'"]+))`), strings.NewReplacer(`""`, `"`),
		}
	}
	return syntax{
		regexp.MustCompile(`(?s)^(?:([ \t\n]+)|(\\\n)|\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)"|([^ \t\n\\'"]+))`),
		strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\$`, `$`, "\\`", "`", "\\\n", ""),
	}
}

// SplitLine splits a line into words as a shell does: quotes of both kinds, and backslashes. On
// Windows backslashes are literal, because paths contain them. It expands nothing.
func SplitLine(text string) ([]string, error) { return splitLine(text, runtime.GOOS == "windows") }

func splitLine(text string, windows bool) ([]string, error) {
	var words []string
	by := splitting(windows)
	for begun := false; text != ""; {
		part := by.part.FindStringSubmatch(text)
		switch {
		case part == nil && text[0] == '\\':
			return nil, errors.New("nothing follows the last backslash")
		case part == nil:
			return nil, fmt.Errorf("a %c is not closed", text[0])
		case part[1] != "":
			begun = false
		case part[2] != "": // an escaped line end joins two lines
		default:
			if !begun {
				words = append(words, "")
			}
			words[len(words)-1] += part[3] + part[4] + by.unescape.Replace(part[5]) + part[6]
			begun = true
		}
		text = text[len(part[0]):]
	}
	return words, nil
}
