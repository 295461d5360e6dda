package check

import (
	"context"

	"github.com/pyplug/pyplug/runner/hook"
)

// cookie starts the plugin without the magic cookie, which it should reject.
func (c *check) cookie(ctx context.Context) hook.Stage {
	program := c.s.Program()
	if program.CookieKey == "" {
		return failed(found(cookieUnknown, hook.Note, "no magic cookie was named, so it was not started without one",
			"name its host's cookie with --cookie KEY=VALUE, or with cookie-key and cookie-value in the manifest"))
	}
	cfg := c.o.Config
	cfg.GRPC.AnyHealth, cfg.GRPC.NoCookie = true, true
	cfg.Output = nil // its error has what it prints
	cfg.Environ, cfg.Env = unset(cfg.Environ, program.CookieKey), unset(cfg.Env, program.CookieKey)
	cfg.Timeouts.Start = min(c.hostLimit(), c.s.Settings().Timeouts.Start)
	p, err := open(ctx, cfg)
	if err == nil {
		err = p.Start(ctx)
	}
	_, _ = p.Close(c.kill) // the stage stop has reported how it ends
	e := hook.AsError(err)
	seen := "it runs without the magic cookie " + program.CookieKey + ", as if a host had started it"
	switch {
	case err == nil:
	case endsCheck(e):
		return failed(c.fail(cookieUnchecked, e))
	case e.Kind == hook.Start && e.Exit != nil:
		return hook.Stage{Message: "it refuses to run without it: " + e.Exit.String()}
	case e.Kind == hook.Start:
		return hook.Stage{Message: "it refuses to run without it"}
	default:
		seen = "without the magic cookie " + program.CookieKey + " it does not end: " + e.Error()
	}
	return failed(found(cookieUnchecked, hook.Warning, seen,
		"check the variable "+program.CookieKey+" first of all, and exit with a message about hosts if its value differs"))
}
