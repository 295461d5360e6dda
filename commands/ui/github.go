package ui

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

var annotationLevels = map[hook.Verdict]string{hook.Failure: "error", hook.Warning: "warning", hook.Note: "notice"}

// Annotate prints the findings as annotations for GitHub Actions, on standard error: an
// error for a failure or a check that ended early, a warning, or a notice for a note.
// The caller knows whether GitHub reads them. With LogJSON nothing is printed, since its
// reader wants JSON alone.
func (s *Streams) Annotate(all []CheckResult) {
	if s.LogJSON {
		return
	}
	text := ""
	for _, c := range all {
		for _, st := range c.Stages {
			for _, f := range worstFirst(st.Findings) {
				text += s.annotation(c, f)
			}
		}
		if c.Err != nil {
			text += s.annotation(c, hook.Finding{ID: "the check ended early", Verdict: hook.Failure, Message: c.Err.Error()})
		}
	}
	s.screen.addCommands(s.Err, text)
	s.screen.flush(writeTimeout)
}

// annotation is the line that makes GitHub show a finding at its line of source, or at
// the plugin's file.
func (s *Streams) annotation(c CheckResult, f hook.Finding) string {
	place := "file=" + property(s.inWorkspace(cmp.Or(f.File, c.Entry, c.Plugin))) + ","
	if f.Line > 0 {
		place += "line=" + strconv.Itoa(f.Line) + ","
	}
	message := strings.Join(append([]string{f.Message}, f.Fix...), "\nfix: ")
	return "::" + annotationLevels[f.Verdict] + " " + place + "title=" + property("pyplug: "+f.ID) +
		"::" + dataEscapes.Replace(visible(paragraph(message, ""))) + "\n"
}

// inWorkspace is a path as GitHub wants it: with slashes, and relative to the
// repository if it is inside.
func (s *Streams) inWorkspace(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.cwd(), path)
	}
	return filepath.ToSlash(schema.Relative(path, cmp.Or(s.Getenv("GITHUB_WORKSPACE"), s.cwd())))
}

// property is a value as a property of a command.
func property(value string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(dataEscapes.Replace(visible(paragraph(value, ""))))
}

// dataEscapes are how GitHub's toolkit escapes the message of a command.
var dataEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
