package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// endedInCall is the message of a stage that is skipped because the plugin exited during
// a call of its manifest.
const endedInCall = "the plugin exited during a call of its manifest"

// health reports the answer of the health service during the start.
func (c *check) health(ctx context.Context) hook.Stage {
	if c.faultAt == stageHooks && !c.s.Running() {
		return hook.Stage{Verdict: hook.Skipped, Message: endedInCall}
	}
	if !c.s.Transport().Serves {
		return c.functionHealth(ctx)
	}
	e := c.s.Evidence()
	said := e.Unhealthy
	if c.faultAt == stageHealth {
		said = c.fault
	}
	if said != nil {
		f := c.failAs(hook.Unhealthy, healthID(said), said)
		if grpcplugin.LacksHealth(said, e.Service) {
			f.Verdict = c.verdictOfNoHealth()
		}
		return hook.Stage{Took: e.Health, Findings: []hook.Finding{f}}
	}
	c.healthy = true
	return hook.Stage{Message: fmt.Sprintf("%q is SERVING", e.Service), Took: e.Health}
}

// verdictOfNoHealth returns the verdict for a plugin without a health service: a failure if its
// host asks for health, a warning if the host is unknown, otherwise a note. go-plugin itself does
// not ask.
func (c *check) verdictOfNoHealth() hook.Verdict {
	switch host, named := c.s.Host(); {
	case !named:
		return hook.Warning
	case host.Pings:
		return hook.Failure
	}
	return hook.Note
}

// healthID returns the name of the finding about a failed probe.
func healthID(err error) string {
	switch e := hook.AsError(err); {
	case e.Reason == grpcplugin.ReasonNoHealth:
		return healthMissing
	case e.Reason == grpcplugin.ReasonUnknownService:
		return healthUnknownService
	case e.Kind == hook.Timeout, e.Reason == grpcplugin.ReasonSilent:
		return healthSilent
	}
	return healthNotServing
}

// functionHealth calls the probe of a functions file.
func (c *check) functionHealth(ctx context.Context) hook.Stage {
	asked := cmp.Or(c.s.Plugin.Manifest.Probe, "health")
	sch, err := c.s.Hooks(ctx, schema.Query{})
	if err != nil {
		return failed(c.unwell(err))
	}
	c.healthy = true // unless the probe says otherwise
	at := slices.IndexFunc(sch.Hooks, func(h schema.Hook) bool { return h.Name == asked })
	if at < 0 {
		return hook.Stage{Message: "it has no " + asked + "() and counts as healthy while it is running"}
	}
	if c.s.Plugin.Manifest.Probe == "" && slices.ContainsFunc(sch.Hooks[at].Params, func(p schema.Param) bool { return p.Required }) {
		return hook.Stage{Message: asked + "() requires arguments, so it is an ordinary hook; the plugin counts as healthy while it is running"}
	}
	within, cancel := hook.WithLimit(ctx, c.s.Config.Timeouts.Probe)
	defer cancel()
	if err := c.s.Probe(within); err != nil {
		return failed(c.unwell(err))
	}
	return hook.Stage{Message: asked + "() reports that the plugin is healthy"}
}

// unwell returns the finding for a functions file that is not healthy.
func (c *check) unwell(err error) hook.Finding {
	switch hook.AsError(err).Kind {
	case hook.Unavailable:
		return c.gone()
	case hook.Crash:
		return c.fail(endedByItself, err)
	}
	return c.failAs(hook.Unhealthy, healthID(err), err)
}
