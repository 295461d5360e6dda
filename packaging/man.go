package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// manual returns the manual pages, made from what the program's help prints.
func (r *release) manual(program string) ([]file, error) {
	var failed error
	help := func(args ...string) string {
		cmd := exec.Command(program, args...)
		cmd.Env = []string{"NO_COLOR=1"}
		output, err := cmd.Output()
		if err != nil && failed == nil {
			failed = fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err)
		}
		return string(output)
	}
	about, rest, _ := strings.Cut(help("help"), "\nCommands:\n")
	commands, topics, _ := strings.Cut(rest, "\n\n")
	description, examples, _ := strings.Cut(about, "\nExamples:\n")

	var body strings.Builder
	body.WriteString(".SH SYNOPSIS\n\\fBpyplug\\fR COMMAND [FLAGS] [ARG...]\n.SH DESCRIPTION\n" + roff(description, ".SH"))
	body.WriteString(".SH COMMANDS\n" + roff(commands, ".SS") + ".PP\nEach has a page of its own, such as \\fBpyplug\\-run\\fR(1).\n")
	for _, topic := range entries(topics) {
		if topic[0] != "finding" && topic[0] != "PAGE" {
			title := strings.Replace(strings.ToUpper(topic[0]), "EXIT-CODES", "EXIT STATUS", 1)
			body.WriteString(".SH " + title + "\n" + roff(help("help", topic[0]), ".SS"))
		}
	}
	body.WriteString(roff("Examples:\n"+examples, ".SH"))
	all := []file{r.page("pyplug", summary, body.String())}
	for _, command := range entries(commands) {
		usage, text, _ := strings.Cut(help(command[0], "--help-all"), "\n\n")
		text, _, _ = strings.Cut(text, "\nExit codes:")
		usage = strings.NewReplacer("Usage: ", "", "\n       ", "\n").Replace(usage)
		synopsis := ".SH SYNOPSIS\n.nf\n" + escape(usage) + "\n.fi\n.SH DESCRIPTION\n"
		all = append(all, r.page("pyplug-"+command[0], command[1], synopsis+roff(text, ".SH")))
	}
	return all, failed
}

// page returns a manual page.
func (r *release) page(name, summary, body string) file {
	const seeAlso = ".SH SEE ALSO\n\\fBpyplug\\fR(1), which explains exit codes and environment variables;\n\\fBpyplug help\\fR\n"
	text := fmt.Sprintf(".TH %s 1 %s \"pyplug %s\"\n.SH NAME\n%s \\- %s\n%s", strings.ToUpper(name), r.time.Format("2006-01-02"),
		r.version.semver, escape(name), escape(summary), body)
	if name != "pyplug" {
		text += seeAlso
	}
	return file{"man/" + name + ".1", 0o644, []byte(text)}
}

// Lines of the help.
var (
	title = regexp.MustCompile(`^([A-Za-z]+(?: [A-Za-z]+){0,2}):$`)
	entry = regexp.MustCompile(`^ *(\S.*\S|\S) {2,}(\S.*)$`) // a name and its meaning
	alone = regexp.MustCompile(`^ +(-\S.*)$`)                // a flag whose meaning is in the next line
)

// flagIndent is the indent of a flag without a short form.
const flagIndent = 6

// entries returns the names and meanings in a list of the help.
func entries(list string) (all [][2]string) {
	for line := range strings.Lines(list) {
		if m := entry.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			all = append(all, [2]string{m[1], m[2]})
		}
	}
	return all
}

// roff returns a text of the help as the body of a manual page: paragraphs and lists are filled,
// examples and other indented lines stay as they are. Its titles become the macro heading.
func roff(text, heading string) string {
	w := roffWriter{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		m := title.FindStringSubmatch(line)
		switch {
		case line == "":
			w.flush()
			w.deep, w.examples = 0, false
		case m != nil && len(w.filled) == 0:
			w.flush()
			w.examples, w.fresh = strings.HasPrefix(m[1], "Example"), true
			if heading == ".SH" {
				m[1] = strings.ToUpper(m[1])
			}
			w.line(heading + " " + m[1])
		case w.examples:
			w.verbatim = append(w.verbatim, strings.TrimPrefix(line, "  "))
		case w.deep > 0 && indent >= w.deep:
			w.filled = append(w.filled, strings.Fields(line)...)
		case entry.MatchString(line):
			w.entry(entry.FindStringSubmatch(line))
			w.deep = entry.FindStringSubmatchIndex(line)[4]
		case alone.MatchString(line):
			w.entry(alone.FindStringSubmatch(line))
			w.deep = flagIndent + 1
		case indent > 0:
			if w.deep > 0 || len(w.filled) > 0 {
				w.flush()
			}
			w.deep = 0
			w.verbatim = append(w.verbatim, strings.TrimPrefix(line, "  "))
		default:
			if len(w.verbatim) > 0 || w.deep > 0 {
				w.flush()
			}
			w.deep = 0
			w.examples = strings.HasPrefix(line, "Example")
			w.filled = append(w.filled, strings.Fields(line)...)
		}
	}
	w.flush()
	return w.b.String()
}

// roffWriter holds back a paragraph until it is complete.
type roffWriter struct {
	b        strings.Builder
	filled   []string // the words of a paragraph
	verbatim []string // lines
	deep     int      // in a list: the least indent of a meaning's further lines
	listed   bool     // the paragraph follows a name in a list
	fresh    bool     // a heading is above: no paragraph macro
	examples bool
}

func (w *roffWriter) line(text string) { w.b.WriteString(text + "\n") }

// entry begins an entry of a list: its name, and the meaning as far as it is on this line.
func (w *roffWriter) entry(m []string) {
	w.flush()
	w.line(".TP\n\\fB" + escape(strings.Join(strings.Fields(m[1]), " ")) + "\\fR")
	w.listed, w.filled = true, nil
	if len(m) > 2 {
		w.filled = strings.Fields(m[2])
	}
}

func (w *roffWriter) flush() {
	if len(w.filled)+len(w.verbatim) == 0 {
		return
	}
	if !w.listed && !w.fresh && w.b.Len() > 0 {
		w.line(".PP")
	}
	for len(w.filled) > 0 { // lines of a length that mandoc's lint accepts
		n, length := 1, len(w.filled[0])
		for n < len(w.filled) && length+len(w.filled[n]) < 64 {
			length += len(w.filled[n]) + 1
			n++
		}
		w.line(escape(strings.Join(w.filled[:n], " ")))
		w.filled = slices.Delete(w.filled, 0, n)
	}
	if len(w.verbatim) > 0 {
		w.line(".nf\n" + escape(strings.Join(w.verbatim, "\n")) + "\n.fi")
	}
	w.verbatim, w.listed, w.fresh = nil, false, false
}

// control matches the characters that make a line a request of roff.
var control = regexp.MustCompile(`(?m)^([.'])`)

// escape returns a text in which roff finds nothing of its own.
func escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "…", "...").Replace(text)
	return control.ReplaceAllString(text, `\&$1`)
}
