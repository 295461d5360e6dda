package ui

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/fatih/color"
	"github.com/mattn/go-runewidth"

	"github.com/pyplug/pyplug/runner/schema"
)

// Text that CI systems treat as commands. "##[…]" and "##vso[…]" of GitHub and Azure, and
// "##teamcity[…]" of TeamCity, may be anywhere in a line. GitHub's "::…" must be at the start of a
// line, after any white space.
var (
	ciCommand     = regexp.MustCompile(`##([A-Za-z]*\[)`)
	githubCommand = regexp.MustCompile(`(?m)^([\t\p{Zs}]*)::`)
)

// acts is like [schema.Acts], but returns false for tab and newline.
func acts(r rune) bool { return r != '\t' && r != '\n' && schema.Acts(r) }

// visible makes lines harmless for terminals, logs and files. It escapes characters that act
// and bytes that are not UTF-8. It breaks commands for CI systems with a backslash.
func visible(text string) string {
	if !isPrintable(text) {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		var b strings.Builder
		for i, r := range text {
			switch {
			case acts(r) && r < utf8.RuneSelf, r == utf8.RuneError && !strings.HasPrefix(text[i:], string(r)):
				fmt.Fprintf(&b, `\x%02x`, text[i])
			case acts(r):
				fmt.Fprintf(&b, `\u%04x`, r) // a byte is \x80, a character \u0080
			default:
				b.WriteRune(r)
			}
		}
		text = b.String()
	}
	if strings.Contains(text, "##") {
		text = ciCommand.ReplaceAllString(text, `#\#$1`)
	}
	if strings.Contains(text, "::") {
		text = githubCommand.ReplaceAllString(text, `$1:\:`)
	}
	return text
}

// isPrintable reports whether a text is ASCII without characters that act. Most texts are,
// and a plugin may print gigabytes.
func isPrintable[Text string | []byte](text Text) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\t' && c != '\n' || c >= 0x7f {
			return false
		}
	}
	return true
}

// visibleJSON makes JSON harmless without changing its value. Characters that act, and bytes that
// are not UTF-8, occur only inside strings. JSON itself escapes all characters below the blank.
func visibleJSON(value []byte) []byte {
	if !isPrintable(value) {
		b := make([]byte, 0, len(value))
		for _, r := range string(value) {
			if r > ' ' && acts(r) || r == utf8.RuneError || firstMark <= r && r <= endMark {
				b = fmt.Appendf(b, `\u%04x`, r)
			} else {
				b = utf8.AppendRune(b, r)
			}
		}
		value = b
	}
	if bytes.Contains(value, []byte("##")) {
		value = ciCommand.ReplaceAll(value, []byte(`\u0023#$1`))
	}
	return value
}

// oneLine returns a text on one line. Newlines and tabs become blanks.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(text)
}

// pathLine returns a text with paths on one line. Newlines and tabs become visible.
func pathLine(text string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(text)
}

// folded returns a text in lines of at most width cells, which break between words. first is the
// number of cells that a label takes before the text. All lines except the first are indented. If
// width is 0, there is no limit.
func folded(text, indent string, first, width int) string {
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	column := runewidth.StringWidth(indent)
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			first = column
		}
		for _, part := range fold(strings.TrimRight(line, " \r"), first-column, width-column) {
			if b.Len() > 0 || i > 0 {
				part = strings.TrimRight("\n"+indent+part, " ")
			}
			b.WriteString(part)
		}
	}
	return b.String()
}

// fold breaks a line into lines of at most width cells. used is the number of cells of the first
// line that are taken. fold breaks at blanks, but not between backticks, which enclose a command to
// copy. It does not break an indented line, which is a drawing or source, or a text without such a
// blank.
func fold(line string, used, width int) (lines []string) {
	if width <= 0 || strings.HasPrefix(line, " ") || strings.Contains(line, "\t") {
		return []string{line}
	}
	cells, last, start, quoted := used, -1, 0, false
	for i, r := range line {
		if r == '`' {
			quoted = !quoted
		}
		if r == ' ' && !quoted {
			last = i
		}
		if cells += runewidth.RuneWidth(r); r != ' ' && cells > width && last > start {
			lines = append(lines, strings.TrimSpace(line[start:last]))
			start = last + 1
			cells = runewidth.StringWidth(line[start:i]) + runewidth.RuneWidth(r)
		}
	}
	return append(lines, strings.TrimLeft(line[start:], " "))
}

// Color is the color of a text, or 0 for no color.
type Color int

// The colors that pyplug uses, and their uses.
const (
	Bold   Color = iota + 1 // titles
	Red                     // error, failure
	Green                   // ok
	Yellow                  // warning
	Cyan                    // hint, note
	Dim                     // aside
)

var attributes = [...]color.Attribute{Bold: color.Bold, Red: color.FgRed, Green: color.FgGreen, Yellow: color.FgYellow, Cyan: color.FgCyan, Dim: color.Faint}

// SetColor sets colors by mode: "always", "never", or "auto". With "auto" the first of these
// decides: FORCE_COLOR or CLICOLOR_FORCE set and not "0", NO_COLOR set, TERM=dumb, and whether each
// stream is a terminal.
func (s *Streams) SetColor(mode string) {
	set := func(name string) bool { v := s.Getenv(name); return v != "" && v != "0" }
	s.outColor, s.screen.color = s.OutTTY, s.ErrTTY
	switch {
	case mode == "always", mode == "auto" && (set("FORCE_COLOR") || set("CLICOLOR_FORCE")):
		s.outColor, s.screen.color = true, true
	case mode == "never", mode == "auto" && (s.Getenv("NO_COLOR") != "" || s.Getenv("TERM") == "dumb"):
		s.outColor, s.screen.color = false, false
	}
}

// A painted text is between the mark of its color and endMark. Marks are noncharacters, which
// Unicode reserves for use inside a program. Marks in other texts can only color them.
const (
	firstMark = '\uFDD0'
	endMark   = '\uFDEF'
)

var painted = regexp.MustCompile(`([\x{FDD1}-\x{FDD6}])([^\x{FDD0}-\x{FDEF}]*)\x{FDEF}`)

// Paint colors a text of one line, if the stream on which it is printed has colors.
func Paint(c Color, text string) string {
	if c == 0 {
		return text
	}
	return string(firstMark+rune(c)) + text + string(endMark)
}

// shown returns a text for people: visible, and with colors if colored is set.
func shown(colored bool, text string) string {
	switch {
	case !strings.ContainsRune(text, endMark): // the fastest case
		return visible(text)
	case !colored:
		return visible(painted.ReplaceAllString(text, "$2"))
	}
	return painted.ReplaceAllStringFunc(visible(text), func(text string) string {
		parts := painted.FindStringSubmatch(text)
		c := color.New(attributes[[]rune(parts[1])[0]-firstMark])
		c.EnableColor() // the default depends only on standard output
		return c.Sprint(parts[2])
	})
}

// table formats rows in columns, the titles first, and returns a line for each. It omits a column
// that has only a title.
func table(rows [][]string) []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, text := range row {
			if slices.ContainsFunc(rows[1:], func(below []string) bool { return below[i] != "" }) {
				_, _ = w.Write([]byte(visible(oneLine(text)) + "\t")) // a Builder accepts every write
			}
		}
		_, _ = w.Write([]byte("\n"))
	}
	_ = w.Flush()
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}
