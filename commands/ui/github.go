package ui

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

var annotationLevels = map[hook.Verdict]string{hook.Failure: "error", hook.Warning: "warning", hook.Note: "notice"}

// mostAnnotations is how many annotations of a level GitHub shows of one step.
const mostAnnotations = 10

// Annotate prints the findings as annotations for GitHub Actions, on standard error: an
// error for a failure or a check that ended early, a warning, or a notice for a note,
// ten of each. The tenth says how many more there are. The caller knows whether GitHub
// reads them. With LogJSON nothing is printed, since its reader wants JSON alone.
func (s *Streams) Annotate(all []CheckResult) {
	if s.LogJSON {
		return
	}
	var findings []hook.Finding
	for _, c := range all {
		findings = append(findings, annotated(c)...)
	}
	text := ""
	for _, verdict := range []hook.Verdict{hook.Failure, hook.Warning, hook.Note} {
		level := annotationLevels[verdict]
		same := slices.DeleteFunc(slices.Clone(findings), func(f hook.Finding) bool { return f.Verdict != verdict })
		if more := len(same) - mostAnnotations; more > 0 {
			same = same[:mostAnnotations]
			same[mostAnnotations-1].Message += fmt.Sprintf("\n… and %s more in the log", plural(more, level))
		}
		for _, f := range same {
			text += s.annotation(level, f)
		}
	}
	if text != "" {
		s.print(text)
	}
}

// annotated are the findings of a check. Each has a name and a file.
func annotated(c CheckResult) []hook.Finding {
	var all []hook.Finding
	for _, st := range c.Stages {
		for _, f := range findingsOf(st) {
			f.ID = cmp.Or(f.ID, st.Name)
			all = append(all, f)
		}
	}
	if c.Err != nil {
		all = append(all, hook.Finding{ID: "the check ended early", Verdict: hook.Failure, Message: c.Err.Error()})
	}
	for i := range all {
		all[i].File = cmp.Or(all[i].File, c.Entry, c.Plugin)
	}
	return all
}

// inWorkspace is a path as GitHub wants it: with slashes, and relative to the
// repository if it is inside.
func (s *Streams) inWorkspace(path string) string {
	cwd := s.cwd()
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	return filepath.ToSlash(relative(cmp.Or(s.Getenv("GITHUB_WORKSPACE"), cwd), path))
}

// annotation is the line that makes GitHub show a finding at its line of source.
func (s *Streams) annotation(level string, f hook.Finding) string {
	place := ""
	if f.File != "" {
		place = "file=" + property(s.inWorkspace(f.File)) + ","
		if f.Line > 0 {
			place += "line=" + strconv.Itoa(f.Line) + ","
		}
	}
	message := f.Message
	for _, fix := range f.Fix {
		message += "\nfix: " + fix
	}
	return "::" + level + " " + place + "title=" + property("pyplug: "+f.ID) + "::" + dataEscapes.Replace(forFile(message)) + "\n"
}

// property is a value as a property of a command.
func property(value string) string { return propertyEscapes.Replace(forFile(value)) }

// GitHub's toolkit escapes the message of a command and its properties like this.
var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
