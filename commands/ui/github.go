package ui

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

// annotation is a command that makes GitHub show a message at a line of source.
type annotation struct {
	level, file, title, message string
	line                        int
}

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
	var found []annotation
	for _, c := range all {
		found = append(found, s.annotations(c)...)
	}
	var b strings.Builder
	for _, level := range []string{"error", "warning", "notice"} {
		var same []annotation
		for _, a := range found {
			if a.level == level {
				same = append(same, a)
			}
		}
		if more := len(same) - mostAnnotations; more > 0 {
			same = same[:mostAnnotations]
			same[mostAnnotations-1].message += fmt.Sprintf("\n… and %s more in the log", plural(more, level))
		}
		for _, a := range same {
			b.WriteString(a.command())
		}
	}
	if b.Len() > 0 {
		s.print(b.String())
	}
}

// annotations are those of one check.
func (s *Streams) annotations(c CheckResult) []annotation {
	var found []annotation
	for _, st := range c.Stages {
		for _, f := range findingsOf(st) {
			level, ok := annotationLevels[f.Verdict]
			if !ok {
				continue
			}
			message := f.Message
			for _, fix := range f.Fix {
				message += "\nfix: " + fix
			}
			found = append(found, annotation{
				level, s.inWorkspace(cmp.Or(f.File, c.Entry, c.Plugin)), "pyplug: " + cmp.Or(f.ID, st.Name), message, f.Line,
			})
		}
	}
	if c.Err != nil {
		found = append(found, annotation{
			"error", s.inWorkspace(cmp.Or(c.Entry, c.Plugin)), "pyplug: the check ended early", c.Err.Error(), 0,
		})
	}
	return found
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

// command is the line that GitHub reads.
func (a annotation) command() string {
	var properties []string
	property := func(name, value string) {
		properties = append(properties, name+"="+propertyEscapes.Replace(forFile(value)))
	}
	if a.file != "" {
		property("file", a.file)
		if a.line > 0 {
			property("line", strconv.Itoa(a.line))
		}
	}
	property("title", a.title)
	return "::" + a.level + " " + strings.Join(properties, ",") + "::" + dataEscapes.Replace(forFile(a.message)) + "\n"
}

// GitHub's toolkit escapes the message of a command and its properties like this.
var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
