package ui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/cases"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// The report names at most slowCases of the slowest cases, if they take at least slowCase.
const (
	slowCase  = 100 * time.Millisecond
	slowCases = 3
)

// TestPrinter prints the report of `test`. Calls of its methods must not overlap.
type TestPrinter struct {
	s     *Streams
	json  bool
	mute  bool // print nothing; not used with json
	began time.Time
	junit *junitSuites // nil without a JUnit report
	suite junitSuite   // the suite of the current file
	all   map[cases.Status]int
	slow  []*cases.Result // the slowest cases, slowest first
	flaky []*cases.Result
	fails []*cases.Result
}

// Tests returns a printer for a run of cases. With asJSON, it prints a line for each case and one
// at the end. With junit, it keeps the report for [TestPrinter.WriteJUnit]. With mute, it prints
// nothing. If the streams are quiet, it prints only failures.
func (s *Streams) Tests(asJSON, junit, mute bool) *TestPrinter {
	p := &TestPrinter{s: s, json: asJSON, mute: mute, began: s.Now(), all: map[cases.Status]int{}}
	if junit {
		p.junit = &junitSuites{}
	}
	return p
}

// Count returns how many cases have ended with a status.
func (p *TestPrinter) Count(status cases.Status) int { return p.all[status] }

func (p *TestPrinter) print(text string) error {
	if p.mute || p.json || text == "" {
		return nil
	}
	return p.s.Print(text)
}

// Case counts a case. It returns a function that prints the case, or nil if there is nothing to
// print. shown reports whether the plugin's output is on standard error.
func (p *TestPrinter) Case(r *cases.Result, shown bool) (print func() error) {
	p.all[r.Status]++
	if r.Took >= slowCase && r.Status != cases.NotRun {
		p.slow = append(p.slow, r)
		slices.SortStableFunc(p.slow, func(a, b *cases.Result) int { return int(b.Took - a.Took) })
		p.slow = p.slow[:min(len(p.slow), slowCases)]
	}
	if p.junit != nil {
		p.suite.Cases = append(p.suite.Cases, p.junitCase(r))
	}
	if r.Flaky() {
		p.flaky = append(p.flaky, r)
	}
	switch {
	case p.json:
		return func() error { return p.s.writeJSON(testCaseOf(r)) }
	case r.Failure == nil || p.s.Quiet && r.Status == cases.Updated:
		return nil
	}
	return func() error {
		word := Paint(Red, "failed:")
		if r.Status == cases.Updated {
			word = Paint(Cyan, "updated:")
		}
		return p.print(word + " " + place(r) + ": " + oneLine(r.Label()) + "\n" + p.s.testDetails(r, shown).text(""))
	}
}

// place returns the place of a case, such as "a.jsonl:3".
func place(r *cases.Result) string { return fmt.Sprintf("%s:%d", r.File, r.Line) }

// testDetails returns the lines below a failed case.
func (s *Streams) testDetails(r *cases.Result, shown bool) *errorLines {
	l := &errorLines{cwd: s.cwd()}
	f := r.Failure
	headline := ""
	for _, d := range f.Differences {
		headline += d.Message + "\n" + string(d.Got) + "\n"
		l.add(0, d.Message)
		if text := d.Shown(); text != "" {
			l.add(0, text)
		}
	}
	if f.Err != nil {
		l.cause(f.Err, headline, shown)
		for _, hint := range hook.Words(f.Err.Hints) {
			l.add(0, "hint: "+hint)
		}
	}
	if r.Attempts > 1 {
		l.add(0, fmt.Sprintf("failed %d times", r.Attempts))
	}
	if r.After > 0 {
		l.add(0, fmt.Sprintf("in a fresh process: line %d ended the previous one", r.After))
	}
	if r.Blame != "" {
		l.add(0, r.Blame)
	}
	return l
}

// testReason and testDifference are the public form of a difference.
type testReason struct {
	Reason string `json:"reason"`
	testDifference
}

type testDifference struct {
	Place  string          `json:"place,omitempty"`
	Wanted json.RawMessage `json:"wanted,omitempty"`
	Got    json.RawMessage `json:"got,omitempty"`
}

// testCase is the public form of a case.
type testCase struct {
	File   schema.Path  `json:"file"`
	Line   int          `json:"line"`
	Name   string       `json:"name,omitempty"`
	Hook   string       `json:"hook"`
	Status cases.Status `json:"status,omitempty"`
	Reason string       `json:"reason,omitempty"`
	testDifference
	// Differences lists all differences if there are several. The first is also in the fields
	// above.
	Differences []testReason      `json:"differences,omitempty"`
	Error       *hook.Error       `json:"error,omitempty"`
	Attempts    int               `json:"attempts,omitempty"`
	Flaky       bool              `json:"flaky,omitempty"`
	After       int               `json:"fresh_after_line,omitempty"`
	Blame       string            `json:"blame,omitempty"`
	TookMS      hook.Milliseconds `json:"took_ms"`
}

func testCaseOf(r *cases.Result) testCase {
	c := testCase{
		File: schema.Path(r.File), Line: r.Line, Name: r.Name, Hook: r.Hook(), Status: r.Status, Reason: r.Skip,
		Attempts: r.Attempts, Flaky: r.Flaky(), After: r.After, Blame: r.Blame, TookMS: hook.Milliseconds(r.Took),
	}
	if f := r.Failure; f != nil {
		var all []testReason
		for _, d := range f.Differences {
			all = append(all, testReason{d.Message, testDifference{d.Place, d.Wanted, d.Got}})
		}
		if c.Reason, c.testDifference, c.Error = all[0].Reason, all[0].testDifference, f.Err; len(all) > 1 {
			c.Differences = all
		}
	}
	return c
}

// File prints the result of a file, after its failures.
func (p *TestPrinter) File(f *cases.FileResult) error {
	if p.junit != nil {
		p.suite.Name = visible(oneLine(f.Path))
		p.junit.add(p.suite, f.Took)
		p.suite = junitSuite{}
	}
	for _, r := range f.Differing {
		if r.Status == cases.Failed {
			p.fails = append(p.fails, r)
		}
	}
	if f.Count[cases.NotRun] == f.Len() || p.s.Quiet && f.Count[cases.Failed] == 0 {
		return nil
	}
	text := ""
	if f.Note != "" {
		text = Paint(Cyan, "note:") + " " + f.Note + "\n"
	}
	return p.print(text + f.Path + ": " + statusCounts(f.Count) + " in " + schema.Span(f.Took) + "\n")
}

// statusCounts lists the number of cases by status.
func statusCounts(of map[cases.Status]int) string {
	var parts []string
	for _, status := range []cases.Status{cases.Passed, cases.Failed, cases.Updated, cases.Skipped, cases.NotRun} {
		if n := of[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "no cases")
}

// Finish prints the summary of all files.
func (p *TestPrinter) Finish(sum cases.Summary) error {
	took := p.s.Now().Sub(p.began)
	if p.json {
		return p.s.writeJSON(struct {
			Passed   int               `json:"passed"`
			Failed   int               `json:"failed"`
			Updated  int               `json:"updated"`
			Skipped  int               `json:"skipped"`
			NotRun   int               `json:"not_run"`
			Flaky    int               `json:"flaky"`
			Replaced int               `json:"replaced"`
			Cost     hook.Milliseconds `json:"replaced_ms"`
			TookMS   hook.Milliseconds `json:"took_ms"`
		}{
			p.all[cases.Passed], p.all[cases.Failed], p.all[cases.Updated], p.all[cases.Skipped], p.all[cases.NotRun], len(p.flaky),
			sum.Replaced, hook.Milliseconds(sum.Cost), hook.Milliseconds(took),
		})
	}
	text := ""
	if len(p.flaky) > 0 {
		text += "flaky: " + named(p.flaky, func(r *cases.Result) string { return fmt.Sprintf("passed after %d calls", r.Attempts) }) + "\n"
	}
	if len(p.slow) > 0 {
		text += "slowest: " + named(p.slow, func(r *cases.Result) string { return schema.Span(r.Took) }) + "\n"
	}
	if sum.Replaced > 0 {
		text += fmt.Sprintf("isolation: %s in %s\n", schema.Plural(sum.Replaced, "fresh worker"), schema.Span(sum.Cost))
	}
	if p.s.Quiet {
		text = ""
	}
	word, color := "passed: ", Green
	switch {
	case p.all[cases.Failed] > 0:
		word, color = "failed: ", Red
	case p.all[cases.NotRun] > 0:
		word, color = "incomplete: ", Red
	case p.s.Quiet:
		return nil
	case p.all[cases.Updated] > 0:
		word = "updated: "
	}
	return p.print(text + Paint(color, word) + statusCounts(p.all) + " in " + schema.Span(took) + "\n")
}

// named lists cases with their places and names. what returns a remark about each case.
func named(results []*cases.Result, what func(*cases.Result) string) string {
	var parts []string
	for _, r := range results {
		parts = append(parts, place(r)+" "+oneLine(r.Label())+" ("+what(r)+")")
	}
	return strings.Join(parts, ", ")
}

// WriteJUnit writes the report as JUnit XML: a suite for each file, with its cases. A case that did
// not run is an error. It returns the error of w.
func (p *TestPrinter) WriteJUnit(w io.Writer) error { return p.junit.write(w) }

func (p *TestPrinter) junitCase(r *cases.Result) junitCase {
	c := junitCase{ClassName: visible(oneLine(r.File)), Name: visible(fmt.Sprintf("line %d: %s", r.Line, oneLine(r.Label()))), Time: seconds(r.Took)}
	switch r.Status {
	case cases.Skipped:
		c.Skipped = &junitProblem{Message: visible(oneLine(r.Skip))}
	case cases.NotRun:
		c.Error = &junitProblem{Type: "not-run", Message: "not run"}
	case cases.Failed:
		c.Failure = &junitProblem{"failed", message(r.Failure.Differences[0].Message), visible(p.s.testDetails(r, false).text(""))}
	}
	if r.Flaky() {
		c.SystemOut = fmt.Sprintf("flaky: passed after %d calls\n", r.Attempts)
	}
	return c
}

// Annotate prints the failed cases as annotations for GitHub Actions on standard error, at their
// lines.
func (p *TestPrinter) Annotate() {
	text := ""
	for _, r := range p.fails {
		text += p.s.annotationAt("error", r.File, r.Line, "pyplug: "+r.Label(), strings.TrimSpace(p.s.testDetails(r, true).text("")))
	}
	p.s.annotate(text)
}
