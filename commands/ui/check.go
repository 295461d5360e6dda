package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// CheckResult is the result of checking one plugin.
type CheckResult struct {
	hook.Report
	// ExitCode is 0 when the plugin passed.
	ExitCode int
	// Err says why the check itself ended early, such as that it was interrupted;
	// nil if it ran to its end.
	Err *hook.Error
}

// passed reports whether the check ran to its end and found the plugin good.
func (c CheckResult) passed() bool { return c.Err == nil && c.ExitCode == 0 }

// verdict is the worst of the stages. A check that ended early is a failure, since
// it did not look at everything.
func (c CheckResult) verdict() hook.Verdict {
	if c.Err != nil {
		return hook.Failure
	}
	return c.Worst()
}

// word is the result in one word.
func (c CheckResult) word() (string, Color) {
	switch {
	case c.Err != nil:
		return "ended early", Red
	case c.ExitCode != 0:
		return "failed", Red
	}
	return "passed", Green
}

// verdictLine is the result in one line, its first word apart, such as "passed with 2
// warnings in 412 ms" or "failed: health (exit 7), 1 failure, in 2.1 s". It is not
// escaped.
func (c CheckResult) verdictLine(strict bool) (word, rest string, color Color) {
	word, color = c.word()
	counts := c.counts()
	if c.passed() {
		if len(counts) > 0 {
			rest = " with " + strings.Join(counts, " and ")
		}
		return word, rest + " in " + span(c.Took), color
	}
	failed := c.Count(hook.Failure) > 0
	if !failed && strict && c.Err == nil {
		counts = append(counts, "warnings count as failures")
	}
	if where := c.where(); where != "" {
		rest = ": " + where
	}
	rest += fmt.Sprintf(" (exit %d), ", c.ExitCode)
	return word, rest + strings.Join(append(counts, "in "+span(c.Took)), ", "), color
}

// where is the error of a check that did not pass, or else the first of its worst
// stages.
func (c CheckResult) where() string {
	if c.Err != nil {
		return strings.ReplaceAll(c.Err.Error(), "\n", " ")
	}
	for _, st := range c.Stages {
		if st.Verdict == c.Worst() && st.Verdict >= hook.Warning {
			return st.Name
		}
	}
	return ""
}

// counts are such as "1 failure", "2 warnings", the worst first.
func (c CheckResult) counts() []string {
	var counts []string
	for _, v := range []hook.Verdict{hook.Failure, hook.Warning, hook.Note} {
		if n := c.Count(v); n > 0 {
			counts = append(counts, plural(n, v.String()))
		}
	}
	return counts
}

// findingsOf are a stage's findings, the worst first. If the stage is worse than all
// of them, its message is one more.
func findingsOf(st hook.Stage) []hook.Finding {
	findings := slices.Clone(st.Findings)
	if worst := st.Worst(); st.Verdict > hook.Skipped && (worst == nil || worst.Verdict < st.Verdict) {
		findings = append(findings, hook.Finding{Verdict: st.Verdict, Message: st.Message})
	}
	slices.SortStableFunc(findings, func(a, b hook.Finding) int { return int(b.Verdict) - int(a.Verdict) })
	return findings
}

// CheckPrinter prints checks on standard output for people, one after another. Make
// one with [Streams.Checks]. One goroutine at a time uses it. The errors of its methods
// are those of the write, see [IsClosedPipe].
type CheckPrinter struct {
	// Shown says that standard error has what a plugin prints: a finding does not
	// repeat its last lines.
	Shown bool

	s       *Streams
	strict  bool
	began   time.Time
	skipped []hook.Stage // not yet printed; all have the same message
	all     []CheckResult
}

// Checks returns a printer for the checks of one run. With strict, warnings count as
// failures.
func (s *Streams) Checks(strict bool) *CheckPrinter {
	return &CheckPrinter{s: s, strict: strict, began: s.Now()}
}

// Begin prints the line above the stages of a plugin.
func (p *CheckPrinter) Begin(plugin string) error {
	text := p.s.PaintOut(Bold, p.s.out().line(plugin)) + "\n"
	if len(p.all) > 0 {
		text = "\n" + text
	}
	return p.print(text)
}

// Stage prints a stage that has ended, and what it found. Stages skipped for the same
// reason become one line, so a skipped one is printed with what comes next.
func (p *CheckPrinter) Stage(st hook.Stage) error {
	if st.Verdict != hook.Skipped || len(st.Findings) > 0 {
		return p.print(p.flushSkipped() + p.stage(st))
	}
	text := ""
	if len(p.skipped) > 0 && p.skipped[0].Message != st.Message {
		text = p.flushSkipped()
	}
	p.skipped = append(p.skipped, st)
	return p.print(text)
}

// flushSkipped is the line of the skipped stages, empty if there are none.
func (p *CheckPrinter) flushSkipped() string {
	skipped := p.skipped
	p.skipped = nil
	switch len(skipped) {
	case 0:
		return ""
	case 1:
		return p.stage(skipped[0])
	}
	names := make([]string, len(skipped))
	for i, st := range skipped {
		names[i] = st.Name
	}
	joined := skipped[0]
	joined.Name = plural(len(skipped), "stage")
	joined.Message = strings.TrimLeft(joined.Message+" ("+strings.Join(names, ", ")+")", " ")
	joined.Took = 0
	return p.stage(joined)
}

// End prints the result of a plugin's check. Of c.Err it prints the message alone:
// [Streams.Fail] prints the rest.
func (p *CheckPrinter) End(c CheckResult) error {
	p.all = append(p.all, c)
	word, rest, color := c.verdictLine(p.strict)
	return p.print(p.flushSkipped() + p.s.PaintOut(color, word) + p.s.out().part(rest) + "\n")
}

// Finish prints what comes after the last plugin: a table if there were several, and
// where to read about a finding.
func (p *CheckPrinter) Finish() error {
	text := ""
	if len(p.all) > 1 {
		text = "\n" + p.table()
	}
	if hint := findingHint(p.all); hint != "" {
		text += "\n" + p.s.PaintOut(Cyan, "hint:") + " " + p.s.out().part(hint) + "\n"
	}
	return p.print(text)
}

// findingHint names the page of one of the worst findings.
func findingHint(all []CheckResult) string {
	var id string
	worst, several := hook.OK, false
	for _, c := range all {
		for _, st := range c.Stages {
			for _, f := range st.Findings {
				if f.ID == "" {
					continue
				}
				several = several || id != "" && id != f.ID
				if f.Verdict > worst || id == "" {
					id, worst = f.ID, f.Verdict
				}
			}
		}
	}
	switch {
	case id == "":
		return ""
	case several:
		return "`pyplug help finding " + id + "` explains this finding, and so for every name in brackets"
	}
	return "`pyplug help finding " + id + "` explains this finding"
}

// table has a row for each plugin, and a line that sums them up.
func (p *CheckPrinter) table() string {
	number := func(text string) cell { return cell{text: text, right: true} }
	rows := [][]cell{{{text: "PLUGIN"}, {text: "RESULT"}, number("EXIT"), number("FAILURES"), number("WARNINGS"), number("TIME")}}
	passed := 0
	for _, c := range p.all {
		word, color := c.word()
		rows = append(rows, []cell{
			{text: p.s.out().line(c.Plugin)}, {text: word, color: color}, number(strconv.Itoa(c.ExitCode)),
			number(strconv.Itoa(c.Count(hook.Failure))), number(strconv.Itoa(c.Count(hook.Warning))), number(span(c.Took)),
		})
		if c.passed() {
			passed++
		}
	}
	return strings.Join(p.s.out().table(rows), "\n") +
		fmt.Sprintf("\n%d of %s passed in %s\n", passed, plural(len(p.all), "plugin"), span(p.s.Now().Sub(p.began)))
}

// print writes lines to standard output, and draws the line of the progress, which a
// terminal would otherwise show blinking.
func (p *CheckPrinter) print(text string) error {
	if text == "" {
		return nil
	}
	err := p.s.writeOut(text)
	p.s.drawWait(nil)
	return err
}
