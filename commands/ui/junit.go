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

// junitCounts are the attributes of a suite, and of them all.
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
	Skipped   *junitReason  `xml:"skipped"`
	Error     *junitProblem `xml:"error"`
	Failure   *junitProblem `xml:"failure"`
	SystemOut characters    `xml:"system-out,omitempty"`
}

type junitReason struct {
	Message string `xml:"message,attr"`
}

type junitProblem struct{ Type, Message, Text string }

// MarshalXML writes the text with its newlines as they are, which the package
// does for the tokens of a document alone.
func (p junitProblem) MarshalXML(e *xml.Encoder, start xml.StartElement) error {
	start.Attr = []xml.Attr{
		{Name: xml.Name{Local: "type"}, Value: p.Type},
		{Name: xml.Name{Local: "message"}, Value: p.Message},
	}
	return characters(p.Text).MarshalXML(e, start)
}

// characters is the text of an element.
type characters string

// MarshalXML writes the element.
func (c characters) MarshalXML(e *xml.Encoder, start xml.StartElement) error {
	for _, token := range []xml.Token{start, xml.CharData(c), start.End()} {
		if err := e.EncodeToken(token); err != nil {
			return err
		}
	}
	return nil
}

type seconds time.Duration

// MarshalText writes them to the millisecond.
func (d seconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(d).Seconds(), 'f', 3, 64), nil
}

// WriteJUnit writes checks as JUnit XML, a suite for each plugin and a case for
// each stage. Failures are failures, and warnings too with strict; what else was
// found is the standard output of its case, and a check that ended early has one
// more case with an error. The error is that of w.
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
	name := visible(c.Plugin)
	suite := junitSuite{Name: name, junitCounts: junitCounts{Time: seconds(c.Took)}}
	for _, st := range c.Stages {
		suite.put(junitCaseOf(name, st, strict))
	}
	if c.Err != nil {
		suite.put(junitCase{ClassName: name, Name: "check", Error: &junitProblem{
			Type: c.Err.Kind.String(), Message: visible(c.Err.Error()), Text: problemText(hook.Finding{Err: c.Err}),
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
	c := junitCase{ClassName: class, Name: visible(st.Name), Time: seconds(st.Took)}
	least := hook.Failure
	if strict {
		least = hook.Warning
	}
	var failed, told []string
	for _, f := range findingsOf(st) {
		if f.Verdict < least {
			told = append(told, headed(f))
			continue
		}
		// Readers take one failure of a case, and some of them its text alone.
		failed = append(failed, headed(f))
		if c.Failure == nil {
			c.Failure = &junitProblem{Type: cmp.Or(f.ID, f.Verdict.String()), Message: visible(f.Message)}
		}
	}
	if c.Failure != nil {
		c.Failure.Text = strings.Join(failed, "\n")
	} else if st.Verdict == hook.Skipped {
		c.Skipped = &junitReason{visible(st.Message)}
	}
	c.SystemOut = characters(strings.Join(told, "\n"))
	return c
}

// headed is a finding with its message: "warning: no controller [no-controller]"
// and what is known and what to do below.
func headed(f hook.Finding) string {
	line := f.Verdict.String() + ": " + strings.Join(append([]string{visible(f.Message)}, idTail(f)...), " ")
	return strings.TrimRight(line+"\n"+problemText(f), "\n")
}

// problemText is what a finding knows beside its message, and what to do.
func problemText(f hook.Finding) string {
	p := newFilePage()
	p.finding(f, false)
	for _, fix := range f.Fix {
		p.add(0, "fix: "+fix)
	}
	return strings.Join(p.lines, "\n")
}
