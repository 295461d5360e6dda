package manifest

import "math"

// keys is the table of a manifest's keys: each with the field of m that it sets,
// and the parser that checks its value.
func (m *Manifest) keys() table {
	return table{
		"id":                set(&m.ID, text),
		"entry":             set(&m.Entry, text),
		"transport":         set(&m.Transport, oneOf("pipe", "grpc")),
		"python":            set(&m.Python, text),
		"requires-python":   set(&m.RequiresPython, specifiers),
		"cookie-key":        set(&m.CookieKey, text),
		"cookie-value":      set(&m.CookieValue, text),
		"protocol-versions": set(&m.ProtocolVersions, integers),
		"mtls":              setPointer(&m.MTLS, boolean),
		"env":               set(&m.Env, environment),
		"cwd":               set(&m.Cwd, text),
		"timeouts": table{
			"start": setPointer(&m.Timeouts.Start, duration(aboveZero)),
			"call":  setPointer(&m.Timeouts.Call, duration(0)),
			"stop":  setPointer(&m.Timeouts.Stop, duration(0)),
			"probe": setPointer(&m.Timeouts.Probe, duration(aboveZero)),
		}.read,
		"restart": table{
			"policy":        set(&m.Restart.Policy, oneOf("no", "on-failure", "always")),
			"max":           setPointer(&m.Restart.Max, integer(0, math.MaxInt32)),
			"backoff":       setPointer(&m.Restart.Backoff, duration(0)),
			"backoff-max":   setPointer(&m.Restart.BackoffMax, duration(0)),
			"healthy-after": setPointer(&m.Restart.HealthyAfter, duration(0)),
		}.read,
		"workers":     set(&m.Workers, integer(1, 1024)),
		"concurrency": set(&m.Concurrency, integer(1, 65536)),
		"limits": table{
			"memory": set(&m.Limits.Memory, memory),
			"cpu":    removedCPU,
			"calls":  set(&m.Limits.Calls, integer(1, math.MaxInt32)),
			"age":    set(&m.Limits.Age, duration(aboveZero)),
		}.read,
		"preload":     set(&m.Preload, oneOf("off", "auto", "force")),
		"probe":       set(&m.Probe, text),
		"error-field": set(&m.ErrorField, text),
		"bootstrap":   set(&m.Bootstrap, hookCalls),
		"shutdown":    set(&m.Shutdown, hookCalls),
	}
}

func (c *HookCall) keys() table {
	return table{
		"hook": set(&c.Hook, text),
		"args": set(&c.Args, arguments),
	}
}
