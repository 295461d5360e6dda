package check

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
)

// Options say what to check and how. The zero value checks nothing. It is
// copied and never written to.
type Options struct {
	// Config says which plugin and how it is opened. What it prints when it is
	// started first goes to Output; when it is started again that is nowhere.
	Config runner.Config
	// Skip names stages that are left out, of [Skippable].
	Skip []string
	// Calls are made while it runs, in order.
	Calls []hook.Call
	// Crash has the stage "again" done.
	Crash bool
	// Beside has the plugin started while its source is looked at, which takes
	// a second core; else one comes after the other.
	Beside bool
	// Host is a program with its first words that leads to [stock.Main];
	// without one the stage "host" says that it could not be done.
	Host []string
	// Hints says what to do about an error; nil: nothing is known.
	Hints func(error) []string
	// Prepared is told the session before anything is started, and may refuse
	// it; nil takes any.
	Prepared func(*runner.Session) error
	// Began is told the name of each stage when it begins, Ended the stage when
	// it is over, also one that was skipped. Both are called from the
	// goroutine of Run, and may be nil.
	Began func(stage string)
	Ended func(hook.Stage)
}

// Run checks a plugin. It returns when nothing of it runs any more. What is
// wrong with the plugin is in the report; the error is of kind Canceled, when ctx
// ended, or Internal, and comes with the report so far. Ending kill cuts
// short what a plugin may take to end.
func Run(ctx, kill context.Context, o Options) (hook.Report, error) {
	c := &check{o: o, kill: kill, s: new(runner.Session), lacking: map[string]string{}}
	c.report.Plugin = o.Config.Plugin
	began := time.Now()
	for _, st := range stages {
		if c.ended != nil {
			break
		}
		done := c.do(ctx, st)
		if st.name == stageSource && guessed(done) && !slices.Contains(o.Skip, stageLaunch) {
			c.held = &done // until the plugin was started
			continue
		}
		if c.held != nil {
			done = c.confirm(done)
		}
		c.done(done)
	}
	if c.held != nil {
		c.done(*c.held)
	}
	if c.started != nil { // it may still be on its way
		if c.ended != nil {
			c.started.cancel()
		}
		<-c.started.over
		defer c.started.cancel()
	}
	_ = c.s.Close(kill) // the check may have ended before the stage that tells how
	c.report.Took = time.Since(began)
	return c.report, c.ended
}

// check is one check as it goes on.
type check struct {
	o      Options
	kill   context.Context
	report hook.Report
	s      *runner.Session
	// lacking says of a stage why those that need it cannot be done.
	lacking map[string]string
	held    *hook.Stage // source, if a start is to confirm what it found
	ended   error       // why there are no more stages

	searched  time.Duration // how long it took to find the Python
	noPython  *hook.Error   // why there is none
	started   *starting     // the start, once it was begun
	discarded bool          // it was ended without a look at it
	fault     *hook.Error   // why it is not ready
	faultAt   string        // the stage that tells it
	output    firstOutput   // when it printed first
	healthy   bool          // it said so
}

// stage is one row of the table that a check goes through.
type stage struct {
	name string
	// needs is the stage without which it cannot be done.
	needs string
	// grpc tells that there is no such stage for a functions file.
	grpc bool
	do   func(*check, context.Context) hook.Stage
}

// The names of the stages, see [stages].
const (
	stagePlugin      = "plugin"
	stageInterpreter = "interpreter"
	stageSource      = "source"
	stageLaunch      = "launch"
	stageHandshake   = "handshake"
	stageConnect     = "connect"
	stageHealth      = "health"
	stageServices    = "services"
	stageHooks       = "hooks"
	stageStop        = "stop"
	stageCookie      = "cookie"
	stageHost        = "host"
	stageAgain       = "again"
)

// stages are gone through in this order.
var stages = []stage{
	{stagePlugin, "", false, (*check).plugin},
	{stageInterpreter, stagePlugin, false, (*check).interpreter},
	{stageSource, stageInterpreter, false, (*check).source},
	{stageLaunch, stageSource, false, (*check).launch},
	{stageHandshake, stageLaunch, false, (*check).handshake},
	{stageConnect, stageHandshake, true, (*check).connect},
	{stageHealth, stageConnect, false, (*check).health},
	{stageServices, stageConnect, true, (*check).services},
	{stageHooks, stageConnect, false, (*check).describe},
	{stageStop, "", false, (*check).stop},
	{stageCookie, stageConnect, true, (*check).cookie},
	{stageHost, stageConnect, true, (*check).host},
	{stageAgain, stageConnect, false, (*check).again},
}

// needed are stages that all others rest on.
var needed = []string{stagePlugin, stageInterpreter, stageStop}

// Stages lists the names of the stages in their order.
func Stages() []string {
	names := make([]string, len(stages))
	for i, st := range stages {
		names[i] = st.name
	}
	return names
}

// Skippable lists the stages that may be left out.
func Skippable() []string {
	return slices.DeleteFunc(Stages(), func(name string) bool { return slices.Contains(needed, name) })
}

// do goes through one stage.
func (c *check) do(ctx context.Context, st stage) hook.Stage {
	if why, lacking := c.without(st); why != "" {
		if c.lacking[st.name] = lacking; st.name == stageLaunch && c.started != nil {
			c.discard()
		}
		return hook.Stage{Name: st.name, Verdict: hook.Skipped, Message: why}
	}
	if c.o.Began != nil {
		c.o.Began(st.name)
	}
	began := time.Now()
	done := st.do(c, ctx)
	if done.Took == 0 {
		done.Took = time.Since(began)
	}
	done = settled(done)
	if ctx.Err() != nil && c.ended == nil {
		c.ended = &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
	}
	if c.ended != nil && len(done.Findings) == 0 {
		done.Verdict, done.Message = hook.Skipped, "it was cut short"
	}
	done.Name = st.name
	return done
}

// settled is a stage with the verdict of its worst finding, and a fix for each.
func settled(st hook.Stage) hook.Stage {
	for i, f := range st.Findings {
		if fix, ok := fixes[f.ID]; ok && len(f.Fix) == 0 {
			st.Findings[i].Fix = []string{fix}
		}
	}
	if worst := st.Worst(); worst != nil {
		st.Verdict = worst.Verdict
		if st.Message == "" || worst.Verdict == hook.Failure {
			st.Message = worst.Message
		}
	}
	return st
}

// none is why a functions file has no such stage.
const none = "a functions file has none"

// without says why a stage is left out, empty when it is not, and why those that
// need it are, too: whatever was at the root of it.
func (c *check) without(st stage) (why, lacking string) {
	lacking = c.lacking[st.needs]
	switch {
	case st.name == stageStop && (c.discarded || c.s.Info().PID == 0):
		return cmp.Or(c.lacking[stageLaunch], "nothing runs"), ""
	case lacking != "":
		return lacking, lacking
	case st.grpc && c.report.Transport == "pipe":
		return none, ""
	case slices.Contains(c.o.Skip, st.name) && st.name == stageSource: // it can be done without
		return "it was to be left out", ""
	case slices.Contains(c.o.Skip, st.name):
		return "it was to be left out", st.name + " was left out"
	case st.name == stageAgain && !c.o.Crash:
		return "--crash asks for it", ""
	}
	return "", ""
}

// done takes a stage into the report.
func (c *check) done(st hook.Stage) {
	if st.Verdict == hook.Failure {
		c.lacking[st.Name] = st.Name + " failed"
	}
	c.report.Stages = append(c.report.Stages, st)
	if c.o.Ended != nil {
		c.o.Ended(st)
	}
}

// fail makes a finding of an error. One that is not about the plugin ends the
// check.
func (c *check) fail(id string, err error) []hook.Finding {
	e := asError(err)
	if e.Kind == hook.Canceled || e.Kind == hook.Internal {
		c.ended = e
		return nil
	}
	// What later starts print is told by their errors alone.
	f := hook.Finding{ID: id, Verdict: hook.Failure, Kind: e.Kind, Message: e.Error(), Err: e, Printed: id != againFailed}
	if c.o.Hints != nil && id != healthSilent { // whose limit no flag of check sets
		f.Fix = c.o.Hints(e)
	}
	f.File, f.Line = c.place(e)
	return []hook.Finding{f}
}

// place is where in the plugin's own files an error came about; empty when that
// is not known.
func (c *check) place(e *hook.Error) (file string, line int) {
	frames := e.At
	if e.Python != nil {
		frames = e.Python.Frames
	}
	_, _, dirs := c.s.Source()
	for _, at := range slices.Backward(frames) {
		if filepath.IsAbs(at.File) && slices.ContainsFunc(dirs, func(dir string) bool { return owns(dir, at.File) }) {
			return at.File, at.Line
		}
	}
	return "", 0
}

// owns reports whether a file is in dir or below, and not among installed packages there.
func owns(dir, file string) bool {
	rel, err := filepath.Rel(dir, file)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	names := strings.Split(rel, string(filepath.Separator))
	return !slices.Contains(names, "site-packages") && !slices.Contains(names, "dist-packages")
}

// failAs is fail for a stage whose failures have one exit code, whatever error
// tells them.
func (c *check) failAs(k hook.Kind, id string, err error) []hook.Finding {
	all := c.fail(id, err)
	for i := range all {
		all[i].Kind = k
	}
	return all
}

// asError makes any error a *hook.Error; nil of nil is one of no kind.
func asError(err error) *hook.Error {
	if err == nil {
		return new(hook.Error)
	}
	var e *hook.Error
	if errors.As(err, &e) {
		return e
	}
	return &hook.Error{Kind: hook.Internal, Err: err}
}

// found makes a finding that is no error.
func found(id string, v hook.Verdict, message string, fix ...string) hook.Finding {
	return hook.Finding{ID: id, Verdict: v, Message: message, Fix: fix}
}

// joined is "a", "a and b", "a, b and c".
func joined(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
