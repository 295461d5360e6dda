package ui

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	junitCounts
	Suites []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name string `xml:"name,attr"`
	junitCounts
	Cases []junitCase `xml:"testcase"`
}

// junitCounts are the attributes of a suite, and of all suites together.
type junitCounts struct {
	Tests    int     `xml:"tests,attr"`
	Failures int     `xml:"failures,attr"`
	Errors   int     `xml:"errors,attr"`
	Skipped  int     `xml:"skipped,attr"`
	Time     seconds `xml:"time,attr"`
}

type junitCase struct {
	ClassName string        `xml:"classname,attr"`
	Name      string        `xml:"name,attr"`
	Time      seconds       `xml:"time,attr"`
	Skipped   *junitProblem `xml:"skipped"`
	Error     *junitProblem `xml:"error"`
	Failure   *junitProblem `xml:"failure"`
	SystemOut string        `xml:"system-out,omitempty"`
}

// junitProblem is why a case failed or was skipped.
type junitProblem struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// message returns a text in a form that is harmless in a report.
func message(text string) string { return visible(folded(text, "", 0, 0)) }

type seconds time.Duration

// MarshalText returns the seconds with three decimals.
func (s seconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(s).Seconds(), 'f', 3, 64), nil
}

// WriteJUnit writes the report as JUnit XML: a suite for each plugin, and a case for each stage
// that applies to it. Failures and, if strict is set, warnings become JUnit failures. Other
// findings are the standard output of their case. A check that ended early has one more case with
// an error. WriteJUnit returns the error of w.
func (p *CheckPrinter) WriteJUnit(w io.Writer) error {
	var doc junitSuites
	for _, c := range p.all {
		suite := junitSuite{Name: message(c.Plugin)}
		for _, st := range c.Stages {
			if st.NotApplicable {
				continue
			}
			suite.Cases = append(suite.Cases, junitCaseOf(suite.Name, st, p.strict))
		}
		if c.Err != nil {
			problem := &junitProblem{string(c.Err.Kind), message(c.Err.Error()), problemText(hook.Finding{Err: c.Err})}
			suite.Cases = append(suite.Cases, junitCase{ClassName: suite.Name, Name: "check", Error: problem})
		}
		doc.add(suite, c.Took)
	}
	return doc.write(w)
}

// add adds a suite with its duration.
func (doc *junitSuites) add(suite junitSuite, took time.Duration) {
	for _, n := range []*junitCounts{&suite.junitCounts, &doc.junitCounts} {
		n.Time += seconds(took)
		for _, one := range suite.Cases {
			n.add(one)
		}
	}
	doc.Suites = append(doc.Suites, suite)
}

func (doc *junitSuites) write(w io.Writer) error {
	text, err := xml.MarshalIndent(doc, "", "  ")
	if err == nil {
		_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	}
	return err
}

func (c *junitCounts) add(one junitCase) {
	c.Tests++
	switch {
	case one.Error != nil:
		c.Errors++
	case one.Failure != nil:
		c.Failures++
	case one.Skipped != nil:
		c.Skipped++
	}
}

func junitCaseOf(class string, st hook.Stage, strict bool) junitCase {
	c := junitCase{ClassName: class, Name: st.Name, Time: seconds(st.Took)}
	if st.Verdict == hook.Skipped {
		c.Skipped = &junitProblem{Message: message(st.Message)}
	}
	for _, f := range worstFirst(st.Findings) {
		text := fmt.Sprintf("%s: %s [%s]\n%s", f.Verdict, message(f.Message), f.ID, problemText(f))
		switch {
		case f.Verdict < hook.Warning, f.Verdict == hook.Warning && !strict:
			c.SystemOut += text
		case c.Failure == nil:
			c.Failure = &junitProblem{f.ID, message(f.Message), text}
		default: // readers show only one failure of a case, and some only its text
			c.Failure.Text += text
		}
	}
	return c
}

// problemText returns the lines below a finding's message, and the fixes.
func problemText(f hook.Finding) string {
	l := &errorLines{}
	l.finding(f, false)
	for _, fix := range f.Fix {
		l.add(0, "fix: "+fix)
	}
	return visible(l.text(""))
}

var annotationLevels = map[hook.Verdict]string{hook.Failure: "error", hook.Warning: "warning", hook.Note: "notice"}

// Annotate prints the findings as annotations for GitHub Actions on standard error: an error for a
// failure or a check that ended early, a warning, or a notice for a note. The caller decides
// whether GitHub reads them.
func (p *CheckPrinter) Annotate() {
	text := ""
	for _, c := range p.all {
		for _, st := range c.Stages {
			for _, f := range worstFirst(st.Findings) {
				text += p.s.annotation(c, f)
			}
		}
		if c.Err != nil {
			text += p.s.annotation(c, hook.Finding{ID: "the check ended early", Verdict: hook.Failure, Message: c.Err.Error()})
		}
	}
	p.s.annotate(text)
}

// annotate prints annotations. With LogJSON it prints nothing, because standard error then contains
// only JSON.
func (s *Streams) annotate(text string) {
	if !s.LogJSON {
		s.screen.addCommands(s.Err, text)
		s.screen.flush(s.Err, writeTimeout)
	}
}

// annotation returns the line that makes GitHub show a finding at its line of source, or at the
// plugin's file.
func (s *Streams) annotation(c CheckResult, f hook.Finding) string {
	text := strings.Join(append([]string{f.Message}, f.Fix...), "\nfix: ")
	return s.annotationAt(annotationLevels[f.Verdict], cmp.Or(f.File, c.Entry, c.Plugin), f.Line, "pyplug: "+f.ID, text)
}

// annotationAt returns the line that makes GitHub show a message at a place. Line 0 means unknown.
func (s *Streams) annotationAt(level, file string, line int, title, text string) string {
	place := "file=" + property(s.inWorkspace(file)) + ","
	if line > 0 {
		place += "line=" + strconv.Itoa(line) + ","
	}
	return "::" + level + " " + place + "title=" + property(title) + "::" + dataEscapes.Replace(message(text)) + "\n"
}

// inWorkspace returns a path in GitHub's form: with slashes, and relative to the repository if the
// path is inside it.
func (s *Streams) inWorkspace(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.cwd(), path)
	}
	return filepath.ToSlash(schema.Relative(path, cmp.Or(s.Getenv("GITHUB_WORKSPACE"), s.cwd())))
}

// property escapes a value for a property of a command.
func property(value string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(dataEscapes.Replace(message(value)))
}

// dataEscapes escapes the message of a command like GitHub's toolkit.
var dataEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
