package check

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// cookie starts the plugin without the magic cookie, which it should refuse.
func (c *check) cookie(ctx context.Context) hook.Stage {
	program := c.s.Program()
	if program.CookieKey == "" {
		return hook.Stage{Message: "none was named", Findings: []hook.Finding{found(cookieUnknown, hook.Note,
			"no magic cookie was named, so that it was not tried without",
			"--cookie KEY=VALUE, or cookie-key and cookie-value in the manifest, name the one of its host")}}
	}
	if len(c.o.Host) > 0 && !slices.Contains(c.o.Skip, stageHost) {
		c.hostAhead(ctx)
	}
	limit := 2*c.s.Evidence().Handshake + 2*time.Second
	err := c.withoutCookie(ctx, limit)
	e := asError(err)
	seen := "it runs without the magic cookie " + program.CookieKey + ", as if a host had started it"
	switch {
	case err == nil:
	case e.Kind == hook.Canceled || e.Kind == hook.Internal:
		c.ended = e
		return hook.Stage{}
	case e.Kind == hook.Start && e.Exit != nil:
		return hook.Stage{Message: "it refuses to run without it: " + e.Exit.String()}
	case e.Kind == hook.Start:
		return hook.Stage{Message: "it refuses to run without it"}
	default:
		seen = "without the magic cookie " + program.CookieKey + " it goes on instead of ending: " + e.Error()
	}
	return hook.Stage{Findings: []hook.Finding{found(cookieUnchecked, hook.Warning, seen,
		"compare the variable "+program.CookieKey+" first of all, and end with a word about hosts when it is another")}}
}

// unset is an environment without a variable.
func unset(env []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(e string) bool { return e == name || strings.HasPrefix(e, name+"=") })
}
