package hook

import (
	"fmt"
	"time"
)

// Verdict is how a stage of a check, or one thing that it found, came out. A
// higher one is worse.
type Verdict uint8

// The verdicts. The zero Verdict is OK.
const (
	OK      Verdict = iota
	Skipped         // not looked at
	Note            // worth knowing
	Warning         // a host survives it
	Failure         // it breaks a host, or a call
)

var verdictNames = [...]string{OK: "ok", Skipped: "skipped", Note: "note", Warning: "warning", Failure: "failure"}

// String is the verdict's name in messages and in JSON, such as "warning".
func (v Verdict) String() string {
	if int(v) >= len(verdictNames) {
		return fmt.Sprintf("verdict(%d)", uint8(v))
	}
	return verdictNames[v]
}

// Finding is one thing that a check found. The zero value is none.
type Finding struct {
	// ID names its sort for ever, such as "stdout-noise"; its page tells more.
	ID string
	// Verdict is Note, Warning or Failure.
	Verdict Verdict
	// Kind decides the exit code of a failure.
	Kind Kind
	// Message is what was seen and what was wanted, Fix what to do, a line
	// each; Fix is empty where nobody knows.
	Message string
	Fix     []string
	// File and Line are where in the plugin's source it is, File absolute;
	// zero where that is not known.
	File string
	Line int
	// Err is the error that it was told by, nil when by none. Printed tells that
	// the last lines of standard error, which it may have, were passed on.
	Err     *Error
	Printed bool
}

// Stage is one step of a check.
type Stage struct {
	Name string
	// Verdict is that of the worst finding, or OK, or Skipped.
	Verdict Verdict
	// Message says what was seen in one line, or why it was skipped.
	Message  string
	Findings []Finding
	// Details are values for programs, by their names in JSON; durations are
	// in milliseconds and their names end in "_ms".
	Details map[string]any
	Took    time.Duration
}

// Worst is the stage's first finding of the worst verdict; nil without one.
func (s Stage) Worst() *Finding {
	var worst *Finding
	for i := range s.Findings {
		if worst == nil || s.Findings[i].Verdict > worst.Verdict {
			worst = &s.Findings[i]
		}
	}
	return worst
}

// Report is what a check found out about a plugin. It belongs to the caller.
type Report struct {
	// Plugin is its path as it was typed.
	Plugin string
	// Entry is the file that runs, absolute; empty when it was not found.
	Entry string
	// Transport is "pipe" or "grpc", empty when it was not found out.
	Transport string
	// Stages are in the order in which they were gone through.
	Stages []Stage
	Took   time.Duration
}

// Worst is the worst verdict of all stages, Skipped left aside.
func (r Report) Worst() Verdict {
	worst := OK
	for _, s := range r.Stages {
		if s.Verdict != Skipped {
			worst = max(worst, s.Verdict)
		}
	}
	return worst
}

// FirstFailure is the first finding that is a failure, whose kind decides the
// exit code; nil without one.
func (r Report) FirstFailure() *Finding {
	for _, s := range r.Stages {
		for i := range s.Findings {
			if s.Findings[i].Verdict == Failure {
				return &s.Findings[i]
			}
		}
	}
	return nil
}

// Count is how many findings have a verdict.
func (r Report) Count(v Verdict) int {
	n := 0
	for _, s := range r.Stages {
		for _, f := range s.Findings {
			if f.Verdict == v {
				n++
			}
		}
	}
	return n
}
