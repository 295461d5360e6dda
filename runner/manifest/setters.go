package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// problem is what is wrong with a value. path leads to it from the value that
// was handed to the setter.
type problem struct {
	path                  []string
	unknown               bool
	seen, wanted, suggest string
}

// setter checks a value that TOML gave and keeps it.
type setter func(value any) *problem

// keys are the keys of a manifest, each with where it goes.
func (m *Manifest) keys() map[string]setter {
	return map[string]setter{
		"id":                identifier(&m.ID),
		"entry":             text(&m.Entry),
		"transport":         oneOf(&m.Transport, "pipe", "grpc"),
		"python":            text(&m.Python),
		"requires-python":   specifiers(&m.RequiresPython),
		"cookie-key":        text(&m.CookieKey),
		"cookie-value":      text(&m.CookieValue),
		"protocol-versions": integers(&m.ProtocolVersions),
		"mtls":              boolean(&m.MTLS),
		"env":               environment(&m.Env),
		"cwd":               text(&m.Cwd),
		"timeouts": table(map[string]setter{
			"start": duration(&m.Timeouts.Start, false), "call": duration(&m.Timeouts.Call, true),
			"stop": duration(&m.Timeouts.Stop, true), "probe": duration(&m.Timeouts.Probe, false),
		}),
		"restart": table(map[string]setter{
			"policy": oneOf(&m.Restart.Policy, "no", "on-failure", "always"),
			"max": func(v any) *problem {
				m.Restart.Max = new(int)
				return integer(m.Restart.Max, 0, math.MaxInt32)(v)
			},
			"backoff": duration(&m.Restart.Backoff, true), "backoff-max": duration(&m.Restart.BackoffMax, true),
			"healthy-after": duration(&m.Restart.HealthyAfter, true),
		}),
		"workers":     integer(&m.Workers, 1, 1024),
		"concurrency": integer(&m.Concurrency, 1, 65536),
		"limits": table(map[string]setter{
			"memory": memory(&m.Limits.Memory), "cpu": cores(&m.Limits.CPU),
			"calls": integer(&m.Limits.Calls, 1, math.MaxInt32),
			"age": func(v any) *problem {
				var age *time.Duration
				p := duration(&age, false)(v)
				if p == nil {
					m.Limits.Age = *age
				}
				return p
			},
		}),
		"preload":     oneOf(&m.Preload, "off", "auto", "force"),
		"probe":       text(&m.Probe),
		"error-field": text(&m.ErrorField),
		"bootstrap":   calls(&m.Bootstrap),
		"shutdown":    calls(&m.Shutdown),
	}
}

// table hands each key of a table to its setter.
func table(keys map[string]setter) setter {
	return func(value any) *problem {
		values, ok := value.(map[string]any)
		if !ok {
			return &problem{seen: show(value), wanted: "a table"}
		}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			set, known := keys[key]
			if !known {
				return &problem{path: []string{key}, unknown: true, suggest: nearest(key, slices.Sorted(maps.Keys(keys)))}
			}
			if p := set(values[key]); p != nil {
				p.path = append([]string{key}, p.path...)
				return p
			}
		}
		return nil
	}
}

func text(to *string) setter {
	return func(value any) *problem {
		s, ok := value.(string)
		switch {
		case !ok:
			return &problem{seen: show(value), wanted: "a string", suggest: quoted(value)}
		case s == "":
			return &problem{seen: `""`, wanted: "a string that is not empty"}
		case strings.ContainsRune(s, 0):
			return &problem{seen: show(value), wanted: "a string without a zero byte"}
		}
		*to = s
		return nil
	}
}

func oneOf(to *string, allowed ...string) setter {
	wanted := fmt.Sprintf("%q", allowed[0])
	for i, a := range allowed[1:] {
		sep := ", "
		if i == len(allowed)-2 {
			sep = " or "
		}
		wanted += sep + fmt.Sprintf("%q", a)
	}
	return func(value any) *problem {
		s, ok := value.(string)
		if !ok || !slices.Contains(allowed, s) {
			return &problem{seen: show(value), wanted: wanted, suggest: nearest(s, allowed)}
		}
		*to = s
		return nil
	}
}

func integer(to *int, least, most int) setter {
	return func(value any) *problem {
		n, ok := value.(int64)
		if !ok || n < int64(least) || n > int64(most) {
			return &problem{seen: show(value), wanted: fmt.Sprintf("an integer from %d to %d", least, most)}
		}
		*to = int(n)
		return nil
	}
}

func integers(to *[]int) setter {
	return func(value any) *problem {
		values, ok := value.([]any)
		if !ok || len(values) == 0 {
			p := &problem{seen: show(value), wanted: "an array of integers such as [1]"}
			if n, ok := value.(int64); ok {
				p.suggest = fmt.Sprintf("[%d]", n)
			}
			return p
		}
		for i, v := range values {
			var n int
			if p := integer(&n, 0, math.MaxInt32)(v); p != nil {
				p.path = []string{index(i)}
				return p
			}
			*to = append(*to, n)
		}
		return nil
	}
}

func boolean(to **bool) setter {
	return func(value any) *problem {
		b, ok := value.(bool)
		if !ok {
			return &problem{seen: show(value), wanted: "true or false"}
		}
		*to = &b
		return nil
	}
}

func environment(to *map[string]string) setter {
	return func(value any) *problem {
		values, ok := value.(map[string]any)
		if !ok {
			return &problem{seen: show(value), wanted: "a table of strings"}
		}
		*to = map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			s, ok := values[name].(string)
			switch {
			case name == "" || strings.ContainsAny(name, "=\x00"):
				return &problem{path: []string{name}, seen: "there", wanted: "a name without = and zero bytes"}
			case !ok:
				return &problem{path: []string{name}, seen: show(values[name]), wanted: "a string", suggest: quoted(values[name])}
			case strings.ContainsRune(s, 0):
				return &problem{path: []string{name}, seen: show(s), wanted: "a string without a zero byte"}
			}
			(*to)[name] = s
		}
		return nil
	}
}

// calls reads an array of tables, each with hook and, perhaps, args.
func calls(to *[]HookCall) setter {
	return func(value any) *problem {
		list, ok := value.([]any)
		if tables, isTables := value.([]map[string]any); isTables {
			ok = true
			for _, t := range tables {
				list = append(list, t)
			}
		}
		if !ok {
			return &problem{seen: show(value), wanted: "an array of tables with hook and args"}
		}
		for i, item := range list {
			var call HookCall
			p := table(map[string]setter{"hook": text(&call.Hook), "args": arguments(&call.Args)})(item)
			if p == nil && call.Hook == "" {
				p = &problem{path: []string{"hook"}, seen: "absent", wanted: "the name of a hook"}
			}
			if p != nil {
				p.path = append([]string{index(i)}, p.path...)
				return p
			}
			*to = append(*to, call)
		}
		return nil
	}
}

// arguments turns a table or an array into JSON. Dates and numbers that JSON
// does not have are refused rather than changed.
func arguments(to *json.RawMessage) setter {
	return func(value any) *problem {
		switch value.(type) {
		case map[string]any, []any, []map[string]any:
		default:
			return &problem{seen: show(value), wanted: "an array (positions) or a table (names)"}
		}
		if p := hasJSON(value); p != nil {
			return p
		}
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(value); err != nil {
			return &problem{seen: show(value), wanted: "what JSON can say"}
		}
		*to = bytes.TrimSpace(out.Bytes())
		return nil
	}
}

// hasJSON looks for values that JSON does not have.
func hasJSON(value any) *problem {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if p := hasJSON(v[key]); p != nil {
				p.path = append([]string{key}, p.path...)
				return p
			}
		}
	case []map[string]any:
		for i, item := range v {
			if p := hasJSON(item); p != nil {
				p.path = append([]string{index(i)}, p.path...)
				return p
			}
		}
	case []any:
		for i, item := range v {
			if p := hasJSON(item); p != nil {
				p.path = append([]string{index(i)}, p.path...)
				return p
			}
		}
	case time.Time:
		return &problem{seen: "a date", wanted: "a date in quotes, as JSON has it"}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &problem{seen: show(v), wanted: "a number that JSON has"}
		}
	}
	return nil
}

// index is the step of a path into an array.
func index(i int) string { return fmt.Sprintf("[%d]", i) }

// show is a value as a message shows it.
func show(value any) string {
	switch v := value.(type) {
	case string:
		if len(v) > 60 {
			return fmt.Sprintf("%q…", v[:60])
		}
		return fmt.Sprintf("%q", v)
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "an array"
	case time.Time:
		return "a date"
	}
	return fmt.Sprint(value)
}

// quoted is a number or boolean as the string that was probably meant.
func quoted(value any) string {
	switch value.(type) {
	case int64, float64, bool:
		return fmt.Sprintf(`"%v"`, value)
	}
	return ""
}
