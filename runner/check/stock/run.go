package stock

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/proc"
)

const (
	// startLimit is how long the host may take to reach its first step.
	startLimit = 10 * time.Second
	// maxLog and maxCrash are the numbers of lines that are kept of the log and of a crash.
	maxLog   = 40
	maxCrash = 8
)

// Request says which host to run, and with what.
type Request struct {
	// Host is the absolute path of a program, and the first words of a command line that
	// runs [Main].
	Host []string
	// Env is the whole environment of the host. The plugin inherits it, with the variables that
	// hosts add. If it is nil, the host gets pyplug's own environment without unsuitable variables.
	Env  []string
	Spec Spec
}

// Step is a step that has ended.
type Step struct {
	// Name is one of the constants, such as [StepStart].
	Name string
	Took time.Duration
	// Err is go-plugin's error, or "" if the step succeeded. It is cut after 2400 bytes.
	Err string
}

// Exit describes how the plugin's own process ended.
type Exit struct {
	// Code and Signal have the same meaning as in [proc.Exit].
	Code   int
	Signal string
	// ByItself reports whether the plugin exited before the host stopped it, and Killed whether
	// go-plugin killed it.
	ByItself, Killed bool
	// Uptime is the time from the start until the plugin exited by itself, or was stopped.
	Uptime time.Duration
}

// Outcome describes a run of the host with a plugin. It belongs to the caller.
type Outcome struct {
	// Steps are the steps that ended, in order. Only StepStop follows a failed step.
	// Nothing follows a step that hung or in which the host exited.
	Steps []Step
	// Hung is the step that exceeded its limit, or empty if none did.
	Hung string
	// Crashed describes a crash of the host itself: the step, a colon, and the first
	// lines of the panic, or the exit. It is empty if the host did not crash.
	Crashed string
	// Exit describes the exit of the plugin's process. It is nil if no process was started, or if
	// the host did not see the exit.
	Exit *Exit
	// Address is the network, a colon, and the address that go-plugin read in the handshake. It is
	// empty if go-plugin accepted no handshake.
	Address string
	// Log contains the last lines of the host's log: go-plugin's warnings and errors, and the
	// plugin's standard error.
	Log []string `json:"-"`
	// Left names the processes that outlived the host, in the form of [proc.Exit].
	// After a crash, or if a step other than [StepStop] hung, it contains the plugin,
	// because nothing has stopped it. On Windows it is always empty.
	Left []string
}

// Step returns the step with a name, and whether it ended.
func (o Outcome) Step(name string) (Step, bool) {
	i := slices.IndexFunc(o.Steps, func(s Step) bool { return s.Name == name })
	if i < 0 {
		return Step{}, false
	}
	return o.Steps[i], true
}

// Run runs the host and returns when the host, the plugin, and everything they started are gone. It
// returns an error if the host cannot be started, or does not reach Main's first step. If ctx ends,
// it returns the error of ctx and the outcome so far. A plugin that breaks its host is not an
// error. Run is safe for concurrent use.
func Run(ctx context.Context, r Request) (Outcome, error) {
	spec, _ := json.Marshal(r.Spec) // this type can always be encoded
	rec := recorder{late: time.NewTimer(startLimit)}
	defer rec.late.Stop()
	args := append(slices.Clone(r.Host[1:]), string(spec))
	p, err := proc.Start(proc.Spec{Path: r.Host[0], Args: args, Env: r.Env, OnLine: rec.line})
	if err != nil {
		return Outcome{}, err
	}
	select {
	case <-p.Done():
	case <-rec.late.C:
		_ = p.Crash() // kills only the host: processes that it leaves behind are part of the outcome
		<-p.Done()
		if rec.inStep() {
			rec.Hung = rec.Begun
		}
	case <-ctx.Done():
		p.Kill()
		return rec.Outcome, fmt.Errorf("%s: killed: %w", r.Host[0], ctx.Err())
	}
	return rec.result(r.Host[0], p.Exit())
}

// record is the outcome so far as the host knows it. The host prints it after each change, without
// the log. It prints each line of the log as a JSON string.
type record struct {
	Outcome
	Begun string        // the last step that began
	Limit time.Duration // its timeout
}

// recorder records the output of the host. Until the process is done, only proc uses it. After
// that, only Run does.
type recorder struct {
	record
	late    *time.Timer // fires when the host takes too long to start
	crashed bool        // Go's runtime has begun to report a crash
	stderr  []string    // the first lines of the crash, or of standard error if there is no crash
}

// inStep reports whether the last step that began has not ended.
func (r *recorder) inStep() bool {
	_, ended := r.Step(r.Begun)
	return !ended
}

// line reads one line of the host.
func (r *recorder) line(line proc.Line) {
	logged := ""
	switch {
	case line.Stream == proc.Stderr:
		r.stderrLine(line.Text)
	case json.Unmarshal([]byte(line.Text), &logged) == nil:
		r.Log = append(r.Log, logged)
		r.Log = r.Log[max(0, len(r.Log)-maxLog):]
	default: // after an error, the line is ignored: another program printed it
		_ = json.Unmarshal([]byte(line.Text), &r.record)
		r.late.Reset(r.Limit)
	}
}

// stderrLine keeps the first lines of the host's own standard error. When a crash begins, it drops
// the lines before the crash. The plugin's standard error is in the log.
func (r *recorder) stderrLine(line string) {
	if !r.crashed && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")) {
		r.crashed, r.stderr = true, nil
	}
	if len(r.stderr) < maxCrash {
		r.stderr = append(r.stderr, line)
	}
}

// result completes the outcome with the exit of the host.
func (r *recorder) result(host string, exit proc.Exit) (Outcome, error) {
	r.Left = exit.Left
	end := fmt.Sprintf("exit code %d", exit.Code)
	if exit.Signal != "" {
		end = exit.Signal
	}
	switch {
	case r.Begun == "":
		return r.Outcome, fmt.Errorf("%s: exited with %s before its first step, expected all steps: %.300s",
			host, end, strings.Join(r.stderr, " "))
	case r.Hung != "":
	case r.inStep() || exit.Code != exitDone || exit.Signal != "":
		// The stacks follow a blank line.
		blank := slices.IndexFunc(r.stderr, func(line string) bool { return strings.TrimSpace(line) == "" })
		if blank >= 0 {
			r.stderr = r.stderr[:blank]
		}
		if len(r.stderr) > 0 {
			end = strings.Join(r.stderr, "\n")
		}
		r.Crashed = r.Begun + ": " + end
	}
	return r.Outcome, nil
}
