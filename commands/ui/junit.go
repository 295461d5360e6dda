package ui

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
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
	SystemOut string        `xml:"system-out,omitempty"`
}

// junitProblem is why a case failed or was skipped.
type junitProblem struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type seconds time.Duration

// MarshalText writes them to the millisecond.
func (d seconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(d).Seconds(), 'f', 3, 64), nil
}

// WriteJUnit writes checks as JUnit XML: a suite for each plugin, a case for each stage
// that applies to it.
// Failures are failures, and with strict warnings, too. Other findings are the standard
// output of their case. A check that ended early has one more case with an error. The
// error is that of w.
func WriteJUnit(w io.Writer, all []CheckResult, strict bool) error {
	var doc junitSuites
	for _, c := range all {
		suite := junitSuite{Name: visible(paragraph(c.Plugin, ""))}
		for _, st := range c.Stages {
			if st.NotApplicable {
				continue
			}
			suite.Cases = append(suite.Cases, junitCaseOf(suite.Name, st, strict))
		}
		if c.Err != nil {
			problem := &junitProblem{string(c.Err.Kind), visible(paragraph(c.Err.Error(), "")), problemText(hook.Finding{Err: c.Err})}
			suite.Cases = append(suite.Cases, junitCase{ClassName: suite.Name, Name: "check", Error: problem})
		}
		for _, n := range []*junitCounts{&suite.junitCounts, &doc.junitCounts} {
			n.Time += seconds(c.Took)
			for _, one := range suite.Cases {
				n.add(one)
			}
		}
		doc.Suites = append(doc.Suites, suite)
	}
	text, err := xml.MarshalIndent(doc, "", "  ")
	if err == nil {
		_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	}
	return err
}

func (n *junitCounts) add(c junitCase) {
	n.Tests++
	switch {
	case c.Error != nil:
		n.Errors++
	case c.Failure != nil:
		n.Failures++
	case c.Skipped != nil:
		n.Skipped++
	}
}

func junitCaseOf(class string, st hook.Stage, strict bool) junitCase {
	c := junitCase{ClassName: class, Name: st.Name, Time: seconds(st.Took)}
	if st.Verdict == hook.Skipped {
		c.Skipped = &junitProblem{Message: visible(paragraph(st.Message, ""))}
	}
	for _, f := range worstFirst(st.Findings) {
		text := headedText(f)
		switch {
		case f.Verdict < hook.Warning, f.Verdict == hook.Warning && !strict:
			c.SystemOut += text
		case c.Failure == nil:
			c.Failure = &junitProblem{f.ID, visible(paragraph(f.Message, "")), text}
		default: // readers take one failure of a case, and some of them its text alone
			c.Failure.Text += text
		}
	}
	return c
}

// headedText is a finding with its headline, such as "warning: no controller
// [no-controller]".
func headedText(f hook.Finding) string {
	return fmt.Sprintf("%s: %s [%s]\n%s", f.Verdict, visible(paragraph(f.Message, "")), f.ID, problemText(f))
}

// problemText is what a finding knows besides its message, and the fixes.
func problemText(f hook.Finding) string {
	l := &errorLines{}
	l.finding(f, false)
	for _, fix := range f.Fix {
		l.add(0, "fix: "+fix)
	}
	return visible(l.text(""))
}
