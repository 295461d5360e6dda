package main

import (
	"fmt"
	"log"
	"os/exec"
	"regexp"
	"strings"
)

// manual returns the manual pages. They repeat the output of the program's help line by line.
func (r *release) manual(program string) []file {
	help := func(args ...string) string {
		cmd := exec.Command(program, args...)
		cmd.Env = []string{"NO_COLOR=1"}
		output, err := cmd.Output()
		if err != nil {
			log.Fatalf("%s: %v", cmd, err)
		}
		return string(output)
	}
	about, rest, _ := strings.Cut(help("help"), "\nCommands:\n")
	commands, topics, _ := strings.Cut(rest, "\n\n")
	body := section("SYNOPSIS", "pyplug COMMAND [FLAGS] [ARG...]") + section("DESCRIPTION", about) + section("COMMANDS", commands)
	for _, topic := range entries(topics) {
		if topic[0] != "finding" && topic[0] != "PAGE" {
			title := strings.Replace(strings.ToUpper(topic[0]), "EXIT-CODES", "EXIT STATUS", 1)
			body += section(title, help("help", topic[0]))
		}
	}
	all := []file{r.page("pyplug", summary, body)}
	for _, command := range entries(commands) {
		usage, text, _ := strings.Cut(help(command[0], "--help-all"), "\n\n")
		text, _, _ = strings.Cut(text, "\nExit codes:")
		usage = strings.NewReplacer("Usage: ", "", "\n       ", "\n").Replace(usage)
		all = append(all, r.page("pyplug-"+command[0], command[1], section("SYNOPSIS", usage)+section("DESCRIPTION", text)))
	}
	return all
}

// entry matches a name and its meaning in a list of the help.
var entry = regexp.MustCompile(`^(\S+) {2,}(\S.*)$`)

// entries returns the names and meanings in a list of the help.
func entries(list string) (all [][2]string) {
	for line := range strings.Lines(list) {
		if m := entry.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			all = append(all, [2]string{m[1], m[2]})
		}
	}
	return all
}

// page returns a manual page.
func (r *release) page(name, summary, body string) file {
	text := fmt.Sprintf(".TH %s 1 %s \"pyplug %s\"\n.SH NAME\n%s \\- %s\n%s", strings.ToUpper(name), r.time.Format("2006-01-02"),
		r.version.semver, escape(name), escape(summary), body)
	if name != "pyplug" {
		text += section("SEE ALSO", "pyplug(1), which explains exit codes and environment variables; pyplug help")
	}
	return file{"man/" + name + ".1", 0o644, []byte(text)}
}

// title matches a title in the help.
var title = regexp.MustCompile(`(?m)^([A-Z][A-Za-z]*(?: [A-Za-z]+){0,2}):\n`)

// section returns a section with a text of the help, whose lines fit 80 columns. Titles in the text
// become headings.
func section(heading, text string) string {
	const subheading = ".fi\n.SS $1\n.in 0n\n.nf\n"
	return ".SH " + heading + "\n.in 0n\n.nf\n" + title.ReplaceAllString(escape(strings.Trim(text, "\n")), subheading) + "\n.fi\n"
}

// control matches characters that would turn a line into a roff request.
var control = regexp.MustCompile(`(?m)^([.'])`)

// escape escapes the characters that are special to roff.
func escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "…", "...").Replace(text)
	return control.ReplaceAllString(text, `\&$1`)
}
