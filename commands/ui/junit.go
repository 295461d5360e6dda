package ui

import (
	"cmp"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
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
	SystemOut *junitText    `xml:"system-out"`
}

// junitProblem is why a case failed or was skipped.
type junitProblem struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	junitText
}

// junitText is the text of an element, with its newlines as they are.
type junitText struct {
	Escaped string `xml:",innerxml"`
}

func newJUnitText(text string) junitText {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return junitText{strings.ReplaceAll(b.String(), "&#xA;", "\n")}
}

type seconds time.Duration

// MarshalText writes them to the millisecond.
func (d seconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(d).Seconds(), 'f', 3, 64), nil
}

// WriteJUnit writes checks as JUnit XML: a suite for each plugin, a case for each stage.
// Failures are failures, and with strict warnings, too. Other findings are the standard
// output of their case. A check that ended early has one more case with an error. The
// error is that of w.
func WriteJUnit(w io.Writer, all []CheckResult, strict bool) error {
	var doc junitSuites
	for _, c := range all {
		suite := junitSuiteOf(c, strict)
		doc.add(suite.junitCounts)
		doc.Suites = append(doc.Suites, suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (n *junitCounts) add(more junitCounts) {
	n.Tests += more.Tests
	n.Failures += more.Failures
	n.Errors += more.Errors
	n.Skipped += more.Skipped
	n.Time += more.Time
}

func junitSuiteOf(c CheckResult, strict bool) junitSuite {
	name := forFile(c.Plugin)
	suite := junitSuite{Name: name, junitCounts: junitCounts{Time: seconds(c.Took)}}
	for _, st := range c.Stages {
		suite.put(junitCaseOf(name, st, strict))
	}
	if c.Err != nil {
		suite.put(junitCase{ClassName: name, Name: "check", Error: &junitProblem{
			Type: c.Err.Kind.String(), Message: forFile(c.Err.Error()), junitText: newJUnitText(problemText(hook.Finding{Err: c.Err})),
		}})
	}
	return suite
}

func (s *junitSuite) put(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Error != nil:
		s.Errors++
	case c.Failure != nil:
		s.Failures++
	case c.Skipped != nil:
		s.Skipped++
	}
}

func junitCaseOf(class string, st hook.Stage, strict bool) junitCase {
	c := junitCase{ClassName: class, Name: forFile(st.Name), Time: seconds(st.Took)}
	least := hook.Failure
	if strict {
		least = hook.Warning
	}
	var failed, other []string
	for _, f := range findingsOf(st) {
		if f.Verdict < least {
			other = append(other, headed(f))
			continue
		}
		// Readers take one failure of a case, and some of them its text alone.
		failed = append(failed, headed(f))
		if c.Failure == nil {
			c.Failure = &junitProblem{Type: cmp.Or(f.ID, f.Verdict.String()), Message: forFile(f.Message)}
		}
	}
	if c.Failure != nil {
		c.Failure.junitText = newJUnitText(strings.Join(failed, "\n"))
	} else if st.Verdict == hook.Skipped {
		c.Skipped = &junitProblem{Message: forFile(st.Message)}
	}
	if len(other) > 0 {
		text := newJUnitText(strings.Join(other, "\n"))
		c.SystemOut = &text
	}
	return c
}

// headed is a finding with its headline, such as "warning: no controller
// [no-controller]".
func headed(f hook.Finding) string {
	line := f.Verdict.String() + ": " + forFile(f.Message)
	if f.ID != "" {
		line += " [" + f.ID + "]"
	}
	return strings.TrimRight(line+"\n"+problemText(f), "\n")
}

// problemText is what a finding knows besides its message, and the fixes.
func problemText(f hook.Finding) string {
	l := &errorLines{escaping: visible}
	l.finding(f, false)
	for _, fix := range f.Fix {
		l.add(0, "fix: "+fix)
	}
	return strings.Join(l.lines, "\n")
}
