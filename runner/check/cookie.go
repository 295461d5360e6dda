package check

import (
	"cmp"
	"context"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
)

// cookie starts the plugin without the magic cookie, which it should reject.
func (c *check) cookie(ctx context.Context) hook.Stage {
	program := c.s.Program()
	if program.CookieKey == "" {
		return failed(found(cookieUnknown, hook.Note, "the plugin's magic cookie is unknown, so the check did not start it without one",
			"set the cookie of its host: --cookie "+cmp.Or(program.ShownCookie(), "KEY=VALUE")+", or cookie in the manifest"))
	}
	cfg := c.o.Config
	cfg.AnyHealth, cfg.NoCookie = true, true
	cfg.Output = nil // the error contains the plugin's output
	cfg.Environ, cfg.Env = proc.Without(cfg.Environ, program.CookieKey), proc.Without(cfg.Env, program.CookieKey)
	cfg.Timeouts.Start = min(c.hostLimit(), c.s.Config.Timeouts.Start)
	p, err := open(ctx, cfg)
	if err == nil {
		err = p.Start(ctx)
	}
	_, _ = p.Close(c.kill) // the stage stop has already reported how the plugin stops
	e := hook.AsError(err)
	seen := "it starts without the magic cookie " + program.CookieKey + ", as if a host had started it"
	switch {
	case err == nil:
	case endsCheck(e):
		return failed(c.fail(cookieUnchecked, e))
	case e.Kind == hook.Start && e.Exit != nil:
		return hook.Stage{Message: "it refuses to start without it: " + e.Exit.String()}
	case e.Kind == hook.Start:
		return hook.Stage{Message: "it refuses to start without it"}
	default:
		seen = "it does not exit without the magic cookie " + program.CookieKey + ": " + e.Error()
	}
	return failed(found(cookieUnchecked, hook.Warning, seen,
		"check the variable "+program.CookieKey+" first; if its value differs, print that the plugin needs its host, and exit"))
}
