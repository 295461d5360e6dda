package stock

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/proc"
)

const (
	defaultLimit = 30 * time.Second
	// slack is what the host has beyond its steps, to begin and to end.
	slack = 2 * time.Second
	// maxLog and maxCrash bound what is kept of the log and of a crash, in lines.
	maxLog   = 40
	maxCrash = 8
)

// Request says which host to run, and with what. The zero value names none.
type Request struct {
	// Host is the absolute path of a program and the first words of a command
	// line that leads to [Main].
	Host []string
	// Env is the whole environment of the host, who passes it on to the plugin
	// with what hosts add; nil is ours, cleaned.
	Env  []string
	Spec Spec
	// Limit is how long each step may take; 0 means 30 seconds. The start has
	// Spec.StartTimeout and this.
	Limit time.Duration
	// Go, when it is closed, has the host begin; nil: it begins at once. A host
	// that was started before it is needed saves its own start, which is 8 ms.
	Go <-chan struct{}
}

// Step is one step that ended. The zero value is none.
type Step struct {
	// Name is one of the constants, such as [StepStart].
	Name string
	Took time.Duration
	// Err is what go-plugin said, word for word but for the middle of what is
	// longer than 2400 bytes; empty when it went well.
	Err string
}

// Outcome is what became of the host and its plugin. The zero value is a host
// that did nothing. It belongs to the caller.
type Outcome struct {
	// Steps are those that ended, in their order. After one that failed comes
	// StepStop; after one that hung, or the host's end, nothing.
	Steps []Step
	// Hung is the step that did not end within its limit; empty when all did.
	Hung string
	// Crashed is how the host itself died: the step, a colon, and the first
	// lines of the panic, or the exit; empty when it did not.
	Crashed string
	// Address is the network, a colon, and the address that go-plugin found in
	// the handshake; empty when it accepted none.
	Address string
	// Log holds the last lines that the host's user would find in its log: what
	// go-plugin logged as warnings and errors, and the plugin's standard error.
	Log []string
	// Left names the processes that were still there when the host was not, as
	// [proc.Exit] has them. After a step that hung, other than [StepStop], or a
	// crash, the plugin itself is among them by rights: nobody has ended it yet.
	// Windows tells nothing.
	Left []string
}

// Step is the step of a name, and whether it ended.
func (o Outcome) Step(name string) (Step, bool) {
	i := slices.IndexFunc(o.Steps, func(s Step) bool { return s.Name == name })
	if i < 0 {
		return Step{}, false
	}
	return o.Steps[i], true
}

// Run runs the host and returns when it, the plugin, and all that they started
// are gone. Whatever the plugin does to its host is no error. The errors: a
// [*proc.StartError] when the host cannot be started; one that is ctx's when
// ctx ended, which comes with the outcome so far; one when the program of Host
// did not come to Main's first step. It is safe for concurrent use.
func Run(ctx context.Context, r Request) (Outcome, error) {
	if len(r.Host) == 0 || len(r.Spec.Command) == 0 {
		return Outcome{}, errors.New("the request names no program, want a host and a plugin")
	}
	if err := ctx.Err(); err != nil {
		return Outcome{}, fmt.Errorf("%s: not started: %w", r.Host[0], err)
	}
	o := order{Spec: r.Spec, Limit: r.Limit}
	if o.Limit == 0 {
		o.Limit = defaultLimit
	}
	var err error
	if o.After, err = r.start(); err != nil {
		return Outcome{}, err
	}
	argument, err := json.Marshal(o)
	if err != nil {
		return Outcome{}, err
	}
	var w witness
	args := append(slices.Clone(r.Host[1:]), string(argument))
	p, err := proc.Start(proc.Spec{Path: r.Host[0], Args: args, Env: r.Env, OnLine: w.hear})
	if err != nil {
		return Outcome{}, err
	}
	if r.Go != nil {
		select {
		case <-r.Go:
			if err := os.WriteFile(o.After, nil, 0o600); err != nil {
				p.Kill()
				return Outcome{}, err
			}
			defer os.Remove(o.After)
		case <-p.Done():
		case <-ctx.Done(): // told below
		}
	}
	// The host watches over its steps by itself. This is for one that cannot,
	// since the plugin has suspended it, say.
	limit := time.NewTimer(o.limit(StepStart) + o.limit(StepConnect) + o.limit(StepPing) + o.limit(StepStop) + slack)
	defer limit.Stop()
	select {
	case <-p.Done():
	case <-limit.C:
		p.Kill()
		if w.within {
			w.outcome.Hung = w.step
		}
	case <-ctx.Done():
		p.Kill()
		return w.outcome, fmt.Errorf("%s: killed: %w", r.Host[0], ctx.Err())
	}
	return w.judge(r.Host[0], p.Exit())
}

// start is the path of a file that is not there until the host may begin; empty
// when it may at once.
func (r Request) start() (string, error) {
	if r.Go == nil {
		return "", nil
	}
	dir, err := proc.TempDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "go-"+rand.Text()), nil
}

// witness hears what the host says. It is proc's until the process is done, and
// then Run's.
type witness struct {
	outcome Outcome
	step    string   // the last one that began
	within  bool     // it has not ended
	crashed bool     // Go's runtime has begun to say why
	stderr  []string // from there on, or from the beginning
}

// hear takes in one line of the host's.
func (w *witness) hear(line proc.Line) {
	if line.Stream == proc.Stderr {
		w.hearCrash(line.Text)
		return
	}
	var r record
	if json.Unmarshal([]byte(line.Text), &r) != nil {
		return // not the host's: it has written to us in full lines only
	}
	switch {
	case r.Begins != "":
		w.step, w.within = r.Begins, true
	case r.Address != "":
		w.outcome.Address = r.Address
	case r.Ended != nil:
		w.outcome.Steps, w.within = append(w.outcome.Steps, *r.Ended), false
	case r.Hangs != "":
		w.outcome.Hung = r.Hangs
	case r.Log != "":
		if len(w.outcome.Log) == maxLog {
			w.outcome.Log = slices.Delete(w.outcome.Log, 0, 1)
		}
		w.outcome.Log = append(w.outcome.Log, r.Log)
	}
}

// hearCrash keeps the first lines of the host's own standard error, from where a
// crash begins. The plugin's standard error is not there.
func (w *witness) hearCrash(line string) {
	if !w.crashed && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")) {
		w.crashed, w.stderr = true, nil
	}
	if len(w.stderr) < maxCrash {
		w.stderr = append(w.stderr, line)
	}
}

// judge says what the host's end means.
func (w *witness) judge(host string, exit proc.Exit) (Outcome, error) {
	w.outcome.Left = exit.Left
	end := fmt.Sprintf("exit code %d", exit.Code)
	if exit.Signal != "" {
		end = exit.Signal
	}
	switch {
	case w.step == "":
		return w.outcome, fmt.Errorf("%s: ended with %s before its first step, want all steps: %.300s",
			host, end, strings.Join(w.stderr, " "))
	case w.outcome.Hung != "":
	case w.within || exit.Code != exitDone || exit.Signal != "":
		if message := w.message(); message != "" {
			end = message
		}
		w.outcome.Crashed = w.step + ": " + end
	}
	return w.outcome, nil
}

// message is what Go's runtime said before the stacks, which follow a blank
// line.
func (w *witness) message() string {
	blank := slices.IndexFunc(w.stderr, func(line string) bool { return strings.TrimSpace(line) == "" })
	if blank >= 0 {
		w.stderr = w.stderr[:blank]
	}
	return strings.Join(w.stderr, "\n")
}
