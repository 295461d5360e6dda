package hook

import (
	"strings"
	"time"
)

// Verdict is the result of a stage of a check, or of one finding. A higher verdict is worse.
type Verdict uint8

// The verdicts. The zero Verdict is OK.
const (
	OK      Verdict = iota
	Skipped         // not checked
	Note            // for information
	Warning         // hosts can tolerate it
	Failure         // it breaks a host or a call
)

var verdictNames = [...]string{OK: "ok", Skipped: "skipped", Note: "note", Warning: "warning", Failure: "failure"}

// String returns the verdict's name in messages and JSON, such as "warning".
func (v Verdict) String() string { return verdictNames[v] }

// MarshalText returns the verdict's name.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Fix is a list of lines that say what to do.
type Fix []string

// MarshalText joins the lines.
func (f Fix) MarshalText() ([]byte, error) { return []byte(strings.Join(f, "\n")), nil }

// Finding is one problem or note that a check found. `check --json` prints it as JSON.
type Finding struct {
	// ID is its permanent name, such as "stdout-noise". The page about it has the same name.
	ID string `json:"id,omitempty"`
	// Verdict is Note, Warning or Failure.
	Verdict Verdict `json:"status"`
	// Kind decides the exit code of a failure.
	Kind Kind `json:"-"`
	// Message says what is wrong and what was expected. Fix says what to do, or is empty.
	Message string `json:"message"`
	Fix     Fix    `json:"fix,omitempty"`
	// File and Line are its place in the plugin's source, or zero if unknown. File is absolute.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Err is the error that caused the finding, or nil. Printed reports whether the plugin's
	// standard error has already been printed.
	Err     *Error `json:"error,omitempty"`
	Printed bool   `json:"-"`
}

// Stage is one step of a check.
type Stage struct {
	Name string `json:"name"`
	// Verdict is the verdict of the worst finding, OK without findings, or Skipped.
	Verdict Verdict `json:"status"`
	// Message summarizes the stage in one line, or says why it was skipped.
	Message string `json:"message,omitempty"`
	// Lines are printed below the message, for people.
	Lines []string `json:"-"`
	// Details are values for programs. The keys are their names in JSON. A name that ends in "_ms"
	// has milliseconds as its value.
	Details  map[string]any `json:"details,omitempty"`
	Findings []Finding      `json:"findings,omitempty"`
	// NotApplicable reports whether a skipped stage does not exist for this plugin or
	// these flags.
	NotApplicable bool          `json:"-"`
	Took          time.Duration `json:"-"`
}

// MarshalJSON returns the stage with the names of `check --json`. It adds the fix of the worst
// finding.
func (s Stage) MarshalJSON() ([]byte, error) {
	type plain Stage // has no methods
	shape := struct {
		plain
		Fix  Fix          `json:"fix,omitempty"`
		Took Milliseconds `json:"took_ms"`
	}{plain: plain(s), Took: Milliseconds(s.Took)}
	if worst := s.Worst(); worst != nil {
		shape.Fix = worst.Fix
	}
	return Marshal(shape)
}

// Worst returns the first finding with the worst verdict, or nil.
func (s Stage) Worst() *Finding {
	var worst *Finding
	for i := range s.Findings {
		if worst == nil || s.Findings[i].Verdict > worst.Verdict {
			worst = &s.Findings[i]
		}
	}
	return worst
}

// Report is the result of a check.
type Report struct {
	// Plugin is the path as the user typed it.
	Plugin string
	// Entry is the absolute path of the file that runs, or empty if not found.
	Entry string
	// Transport is "pipe", "grpc", or empty if unknown.
	Transport string
	// Stages are the stages in the order in which they ran.
	Stages []Stage
	Took   time.Duration
}

// Worst returns the worst verdict of all stages, ignoring Skipped.
func (r Report) Worst() Verdict {
	worst := OK
	for _, s := range r.Stages {
		if s.Verdict != Skipped {
			worst = max(worst, s.Verdict)
		}
	}
	return worst
}

// FirstFailure returns the first failure, whose kind decides the exit code, or
// nil if there is none.
func (r Report) FirstFailure() *Finding {
	for _, s := range r.Stages {
		if worst := s.Worst(); worst != nil && worst.Verdict == Failure {
			return worst
		}
	}
	return nil
}

// Count returns the number of findings with a verdict.
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
