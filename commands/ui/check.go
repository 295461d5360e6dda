package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// CheckResult is the result of checking one plugin.
type CheckResult struct {
	hook.Report
	// ExitCode is 0 when the plugin passed.
	ExitCode int
	// Err says why the check itself ended early, for example because it was interrupted. It is nil
	// if the check was completed.
	Err *hook.Error
}

// word returns the result in one or two words, and its color.
func (c CheckResult) word() (string, Color) {
	switch {
	case c.Err != nil:
		return "ended early", Red
	case c.ExitCode != 0:
		return "failed", Red
	}
	return "passed", Green
}

// summary returns the rest of the line after the result's word, such as " with 2 warnings
// in 412ms" or ": health (exit 7), 1 failure, in 2.1s".
func (c CheckResult) summary(strict bool) string {
	var counts []string
	for _, v := range []hook.Verdict{hook.Failure, hook.Warning, hook.Note} {
		if n := c.Count(v); n > 0 {
			counts = append(counts, schema.Plural(n, v.String()))
		}
	}
	took := "in " + schema.Span(c.Took)
	if c.ExitCode == 0 && len(counts) == 0 {
		return " " + took
	}
	if c.ExitCode == 0 {
		return " with " + strings.Join(counts, " and ") + " " + took
	}
	if strict && c.Err == nil && c.Worst() == hook.Warning {
		counts = append(counts, "warnings count as failures")
	}
	where := ""
	if worst := slices.IndexFunc(c.Stages, func(st hook.Stage) bool { return st.Verdict == c.Worst() }); worst >= 0 {
		where = c.Stages[worst].Name
	}
	if c.Err != nil {
		where = oneLine(c.Err.Error())
	}
	return fmt.Sprintf(": %s (exit %d), %s", where, c.ExitCode, strings.Join(append(counts, took), ", "))
}

// worstFirst returns findings sorted by their verdicts, failures first.
func worstFirst(findings []hook.Finding) []hook.Finding {
	return slices.SortedStableFunc(slices.Values(findings), func(a, b hook.Finding) int { return cmp.Compare(b.Verdict, a.Verdict) })
}

// CheckPrinter prints the report of `check`, one check after another. Create one with
// [Streams.Checks]. Only one goroutine at a time may use it. Its methods return errors of writing,
// see [IsClosedPipe].
type CheckPrinter struct {
	s      *Streams
	strict bool
	json   bool
	mute   bool // print nothing; not used with json
	began  time.Time
	all    []CheckResult
}

// Checks returns a printer for the checks of one run. With strict, warnings count as failures. With
// asJSON, it prints a line for each plugin. With mute, it prints nothing. If the streams are quiet,
// it prints only failures.
func (s *Streams) Checks(strict, asJSON, mute bool) *CheckPrinter {
	return &CheckPrinter{s: s, strict: strict, json: asJSON, mute: mute, began: s.Now()}
}

// Check counts a check. It returns a function that prints the check, or nil if there is nothing to
// print. shown reports whether the plugin's output is on standard error. If so, findings do not
// repeat its last lines.
func (p *CheckPrinter) Check(c CheckResult, shown bool) (print func() error) {
	p.all = append(p.all, c)
	first := len(p.all) == 1
	switch {
	case p.json:
		return func() error { return p.printJSON(c) }
	case p.mute || p.s.Quiet && c.ExitCode == 0:
		return nil
	}
	return func() error { return p.print(c, first, shown) }
}

// print prints the stages of a plugin with their findings, and the result. It prints all skipped
// stages as one entry. Unless the streams are verbose, it omits skipped stages that no flag can
// enable. It prints only the message of c.Err, because [Streams.Fail] prints the rest.
func (p *CheckPrinter) print(c CheckResult, first, shown bool) error {
	text := Paint(Bold, oneLine(c.Plugin)) + "\n"
	if !first && !p.s.Quiet {
		text = "\n" + text
	}
	var reasons []string
	names := map[string][]string{}
	for _, st := range c.Stages {
		switch {
		case p.s.Quiet && st.Verdict != hook.Failure && (!p.strict || st.Verdict != hook.Warning):
		case st.Verdict != hook.Skipped:
			text += p.stage(st, shown)
		case st.NotApplicable && !strings.HasPrefix(st.Message, "needs ") && !p.s.Verbose: // no flag enables this stage
		default:
			if names[st.Message] == nil {
				reasons = append(reasons, st.Message)
			}
			names[st.Message] = append(names[st.Message], st.Name)
		}
	}
	for i, reason := range reasons {
		reasons[i] = strings.Join(names[reason], ", ") + ": " + reason
	}
	if len(reasons) > 0 {
		text += p.entry("  skipped  ", findingColumn, strings.Join(reasons, "; "), "")
	}
	word, color := c.word()
	return p.s.Print(text + Paint(color, word) + c.summary(p.strict) + "\n")
}

// verdictColors maps verdicts to colors.
var verdictColors = map[hook.Verdict]Color{hook.OK: Green, hook.Note: Cyan, hook.Warning: Yellow, hook.Failure: Red}

// The columns where a stage's findings and message begin.
const (
	findingColumn = len("  failure  ")
	messageColumn = findingColumn + len("interpreter  ")
)

// stage returns the line of a stage, with its findings below:
//
//	warning  stop         no Shutdown method  [no-controller]  12ms
//	         fix: serve plugin.GRPCController
//	         warning: a process is left  [left-behind]
//	           fix: stop it
//
// A finding with the same message as the stage has no line of its own.
func (p *CheckPrinter) stage(st hook.Stage, shown bool) string {
	word := Paint(verdictColors[st.Verdict], st.Verdict.String())
	label := "  " + word + strings.Repeat(" ", len("failure")-len(st.Verdict.String())) + fmt.Sprintf("  %-11s  ", st.Name)
	own := slices.IndexFunc(st.Findings, func(f hook.Finding) bool { return f.Message == st.Message && f.Verdict == st.Verdict })
	details, tail := "", ""
	for i, f := range st.Findings {
		id := "  [" + f.ID + "]"
		if i == own {
			tail = id
			details = p.details(f, findingColumn, shown) + details
			continue
		}
		word := Paint(verdictColors[f.Verdict], f.Verdict.String()+":")
		details += p.entry(strings.Repeat(" ", findingColumn)+word+" ", findingColumn+len(f.Verdict.String()+": "), f.Message, id)
		details += p.details(f, findingColumn+2, shown)
	}
	if st.Took >= time.Millisecond {
		tail += "  " + schema.Span(st.Took)
	}
	text := p.entry(label, messageColumn, st.Message, tail)
	for _, line := range st.Lines {
		text += p.entry(strings.Repeat(" ", messageColumn), messageColumn, line, "")
	}
	return text + details
}

// entry returns a text after a label, with a tail after its last line. cells is the width of the
// label, by which further lines are indented.
func (p *CheckPrinter) entry(label string, cells int, text, tail string) string {
	text = strings.TrimRight(text, "\r\n") + tail
	return strings.TrimRight(label+folded(text, strings.Repeat(" ", cells), cells, width(p.s.Out, p.s.OutTTY)), " ") + "\n"
}

// details returns the lines below a finding's message, and the fixes.
func (p *CheckPrinter) details(f hook.Finding, column int, shown bool) string {
	const own = 2 // the indentation that errorLines adds
	details := &errorLines{cwd: p.s.cwd(), width: max(0, width(p.s.Out, p.s.OutTTY)-(column-own))}
	details.finding(f, shown && f.Printed)
	text := details.text(strings.Repeat(" ", column-own))
	for _, fix := range f.Fix {
		label := strings.Repeat(" ", column) + "fix: "
		text += p.entry(label, len(label), fix, "")
	}
	return text
}

// Finish prints a table if there were several plugins, and the command that explains a finding.
func (p *CheckPrinter) Finish() error {
	if p.s.Quiet || p.mute || p.json {
		return nil
	}
	text := ""
	if len(p.all) > 1 {
		text = "\n" + p.table()
	}
	if hint := findingHint(p.all); hint != "" {
		text += "\n" + p.entry(Paint(Cyan, "hint:")+" ", len("hint: "), hint, "")
	}
	return p.s.Print(text)
}

// findingHint returns a hint with the page of one of the worst findings.
func findingHint(all []CheckResult) string {
	var named []hook.Finding
	for _, c := range all {
		for _, st := range c.Stages {
			named = append(named, st.Findings...)
		}
	}
	if named = worstFirst(named); len(named) == 0 {
		return ""
	}
	hint := "run `pyplug help finding " + named[0].ID + "` to read about this finding"
	if slices.ContainsFunc(named, func(f hook.Finding) bool { return f.ID != named[0].ID }) {
		hint += "; the same for every name in brackets"
	}
	return hint
}

// table returns a table with a row for each plugin, and a summary line.
func (p *CheckPrinter) table() string {
	rows := [][]string{{"PLUGIN", "RESULT", "EXIT", "FAILURES", "WARNINGS", "TIME"}}
	passed := 0
	for _, c := range p.all {
		word, _ := c.word()
		rows = append(rows, []string{c.Plugin, word, strconv.Itoa(c.ExitCode),
			strconv.Itoa(c.Count(hook.Failure)), strconv.Itoa(c.Count(hook.Warning)), schema.Span(c.Took)})
		if c.ExitCode == 0 {
			passed++
		}
	}
	return strings.Join(table(rows), "\n") +
		fmt.Sprintf("\n%d of %s passed in %s\n", passed, schema.Plural(len(p.all), "plugin"), schema.Span(p.s.Now().Sub(p.began)))
}

// printJSON prints a check as one line on standard output: {"schema", "plugin",
// "transport", "verdict", "exit_code", "took_ms", "stages", "error"}, with the JSON of
// [hook.Stage]. If the check ended early, the verdict is "failure" and "error" is the reason.
func (p *CheckPrinter) printJSON(c CheckResult) error {
	verdict := c.Worst()
	if c.Err != nil {
		verdict = hook.Failure
	}
	return p.s.writeJSON(struct {
		Plugin    schema.Path       `json:"plugin"`
		Transport string            `json:"transport,omitempty"`
		Verdict   hook.Verdict      `json:"verdict"`
		ExitCode  int               `json:"exit_code"`
		TookMS    hook.Milliseconds `json:"took_ms"`
		Stages    []hook.Stage      `json:"stages"`
		Error     *hook.Error       `json:"error,omitempty"`
	}{schema.Path(c.Plugin), c.Transport, verdict, c.ExitCode, hook.Milliseconds(c.Took), append([]hook.Stage{}, c.Stages...), c.Err})
}
