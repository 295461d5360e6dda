package check

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/schema"
)

// Options say what to check and how. The zero value checks nothing. They are copied and never
// changed.
type Options struct {
	// Config says which plugin to open and how. Output receives the plugin's output during its
	// first start; the output of later starts is dropped.
	Config plan.Config
	// Skip names stages to skip. Each must be in [Skippable].
	Skip []string
	// Calls are made in order while the plugin runs.
	Calls []hook.Call
	// Crash runs the stage "again".
	Crash bool
	// MCP runs the stage "mcp". Without it, the report does not have that stage.
	MCP bool
	// Host is a program and the first words of a command line that runs [stock.Main]. If
	// it is empty, the stage "host" reports that it could not run.
	Host []string
	// Prepared is called with the plugin before anything is started. It may be nil.
	Prepared func(*runner.Keeper)
	// Began is called with each stage that runs, and with the timeout that limits it, or 0, from
	// the goroutine of Run. It may be nil.
	Began func(stage string, limit time.Duration)
	// Ended is called with each stage after it ended or was skipped, from the goroutine of Run. It
	// may be nil.
	Ended func(hook.Stage)
}

// Run checks a plugin. It returns when no process of the plugin is left. The report says what is
// wrong with the plugin. Run returns an error of kind Canceled if ctx ended, or of kind Internal,
// together with the report so far. When the context kill ends, Run kills the plugin without giving
// it time to stop.
func Run(ctx, kill context.Context, o Options) (hook.Report, error) {
	o.Config.Untrusted = slices.Contains(o.Skip, stageLaunch) // then nothing is started
	c := &check{o: o, kill: kill, s: &process{Keeper: new(runner.Keeper)}, lacking: map[string]string{}}
	c.report.Plugin = o.Config.Plugin
	began := time.Now()
	for _, st := range stages {
		if c.ended != nil {
			break
		}
		if st.name == stageMCP && !o.MCP {
			continue
		}
		c.done(c.do(ctx, st))
	}
	_, _ = c.s.Close(kill) // the check may have ended before the stage stop
	c.report.Took = time.Since(began)
	return c.report, c.ended
}

// check is one check in progress.
type check struct {
	o      Options
	kill   context.Context
	report hook.Report
	s      *process
	// lacking maps a stage to the reason why stages that need it cannot run.
	lacking map[string]string
	ended   error // the error that ended the check

	searched  time.Duration // duration of the search for the Python
	noPython  *hook.Error   // the error if no Python was found
	handshook atomic.Bool   // the plugin printed a handshake
	fault     *hook.Error   // why the plugin is not ready
	faultAt   string        // the stage that reports fault
	faultID   string        // the name of the finding about fault
	healthy   bool          // the plugin is healthy
}

// stage is one row of the table of stages.
type stage struct {
	name   string
	needs  string // the stage that must succeed before
	server bool   // the stage applies only to gRPC plugins
	do     func(*check, context.Context) hook.Stage
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
	stageHooks       = "hooks"
	stageMCP         = "mcp"
	stageStop        = "stop"
	stageCookie      = "cookie"
	stageHost        = "host"
	stageAgain       = "again"
)

// stages lists the stages in their order.
var stages = []stage{
	{stagePlugin, "", false, (*check).plugin},
	{stageInterpreter, stagePlugin, false, (*check).interpreter},
	{stageSource, stageInterpreter, false, (*check).source},
	{stageLaunch, stageSource, false, (*check).launch},
	{stageHandshake, stageLaunch, false, (*check).handshake},
	{stageConnect, stageHandshake, true, (*check).connect},
	{stageHealth, stageConnect, false, (*check).health},
	{stageHooks, stageConnect, false, (*check).hooks},
	{stageMCP, stageConnect, false, (*check).mcp},
	{stageStop, "", false, (*check).stop},
	{stageCookie, stageConnect, true, (*check).cookie},
	{stageHost, stageConnect, true, (*check).host},
	{stageAgain, stageConnect, false, (*check).again},
}

// Stages lists the names of the stages in their order.
func Stages() []string {
	names := make([]string, len(stages))
	for i, st := range stages {
		names[i] = st.name
	}
	return names
}

// Skippable lists the stages that may be skipped. The check needs "plugin", "interpreter" and
// "stop". Only a flag runs the stage "mcp".
func Skippable() []string {
	return slices.DeleteFunc(Stages(), func(name string) bool {
		return name == stagePlugin || name == stageInterpreter || name == stageStop || name == stageMCP
	})
}

// do runs one stage.
func (c *check) do(ctx context.Context, st stage) hook.Stage {
	if skipped, runs := c.skipped(st); !runs {
		return skipped
	}
	if c.o.Began != nil {
		c.o.Began(st.name, c.limit(st.name))
	}
	began := time.Now()
	done := st.do(c, ctx)
	if done.Took == 0 {
		done.Took = time.Since(began)
	}
	maps.DeleteFunc(done.Details, func(_ string, value any) bool { return value == "" || value == schema.Path("") })
	done.Findings = slices.DeleteFunc(done.Findings, func(f hook.Finding) bool {
		if endsCheck(f.Err) {
			c.ended = f.Err
		}
		return endsCheck(f.Err)
	})
	done = withVerdict(done)
	if ctx.Err() != nil && c.ended == nil {
		c.ended = &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
	}
	if c.ended != nil && len(done.Findings) == 0 {
		done.Verdict, done.Message = hook.Skipped, "interrupted"
	}
	done.Name = st.name
	return done
}

// limit returns the timeout that limits a stage, or 0.
func (c *check) limit(stage string) time.Duration {
	t := c.s.Config.Timeouts
	limit := map[string]time.Duration{
		stageLaunch: t.Start, stageHandshake: t.Start, stageConnect: t.Start, stageHealth: t.Probe, stageHooks: t.Call, stageStop: t.Stop,
	}[stage]
	return max(0, limit) // negative means no limit
}

// skipped reports whether a stage runs. If it does not, instead is the stage in the report.
func (c *check) skipped(st stage) (instead hook.Stage, runs bool) {
	isSkipped := slices.Contains(c.o.Skip, st.name)
	lacking := c.lacking[st.needs] // why a stage that st needs, directly or not, failed or was skipped
	instead = hook.Stage{Name: st.name, Verdict: hook.Skipped, Message: lacking}
	switch way := c.s.Transport(); {
	case st.server && way.What != "" && !way.Serves:
		instead.Message, instead.NotApplicable = "gRPC plugins only", true
	case st.name == stageAgain && !c.o.Crash && !isSkipped:
		instead.Message, instead.NotApplicable = "needs --crash", true
	case st.name == stageStop && c.s.Instance == nil:
		instead.Message = cmp.Or(c.lacking[stageLaunch], "nothing runs")
	case lacking != "":
	case isSkipped:
		instead.Message = "skipped by --skip"
		if st.name != stageSource { // the later stages still run
			lacking = st.name + " was skipped"
		}
	default:
		return instead, true
	}
	c.lacking[st.name] = lacking
	return instead, false
}

// done adds a stage to the report.
func (c *check) done(st hook.Stage) {
	if st.Verdict == hook.Failure {
		c.lacking[st.Name] = st.Name + " failed"
	}
	c.report.Stages = append(c.report.Stages, st)
	if c.o.Ended != nil {
		c.o.Ended(st)
	}
}
