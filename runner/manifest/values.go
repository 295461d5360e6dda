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

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/schema"
)

// problem is what is wrong with a value.
type problem struct {
	path []string // the keys and indices that lead to the value
	is   string   // follows the key in the message; empty: the key is unknown
	hint string
}

// wrong is a problem with value.
func wrong(value any, wanted string) *problem {
	return &problem{is: fmt.Sprintf("is %s, want %s", show(value), wanted)}
}

// within adds steps to the front of the path.
func (p *problem) within(steps ...string) *problem {
	p.path = slices.Concat(steps, p.path)
	return p
}

// parser checks a value that TOML decoded, and converts it.
type parser[T any] func(value any) (T, *problem)

// reader parses a value into the place that it was made for.
type reader func(value any) *problem

// table reads the keys of a TOML table.
type table map[string]reader

// read rejects keys that are not in t.
func (t table) read(value any) *problem {
	values, ok := value.(map[string]any)
	if !ok {
		return wrong(value, "a table")
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		read, known := t[key]
		if !known {
			return &problem{path: []string{key}, hint: didYouMean(schema.Suggest(key, slices.Sorted(maps.Keys(t))))}
		}
		if p := read(values[key]); p != nil {
			return p.within(key)
		}
	}
	return nil
}

func set[T any](to *T, parse parser[T]) reader {
	return func(value any) *problem {
		parsed, p := parse(value)
		*to = parsed
		return p
	}
}

// setPointer sets a field whose zero value means something else than absent.
func setPointer[T any](to **T, parse parser[T]) reader {
	return func(value any) *problem {
		*to = new(T)
		return set(*to, parse)(value)
	}
}

// removedCPU is the reader of limits.cpu, which older versions had.
func removedCPU(any) *problem {
	return &problem{is: "is no longer supported", hint: "let the system limit the CPU: systemd-run --user --scope -p CPUQuota=50% pyplug …"}
}

// anyText parses a string, which may be empty.
func anyText(value any) (string, *problem) {
	s, ok := value.(string)
	var p *problem
	switch {
	case !ok:
		p = wrong(value, "a string")
	case strings.ContainsRune(s, 0):
		p = wrong(value, "a string without a zero byte")
	}
	return s, p
}

func text(value any) (string, *problem) {
	s, p := anyText(value)
	if p == nil && s == "" {
		p = wrong(value, "a string that is not empty")
	}
	return s, p
}

func oneOf(allowed ...string) parser[string] {
	return func(value any) (string, *problem) {
		s, _ := value.(string)
		if !slices.Contains(allowed, s) {
			last := len(allowed) - 1
			p := wrong(value, fmt.Sprintf(`"%s" or "%s"`, strings.Join(allowed[:last], `", "`), allowed[last]))
			p.hint = didYouMean(schema.Suggest(s, allowed))
			return "", p
		}
		return s, nil
	}
}

func boolean(value any) (bool, *problem) {
	b, ok := value.(bool)
	if !ok {
		return false, wrong(value, "true or false")
	}
	return b, nil
}

func integer(least, most int) parser[int] {
	return func(value any) (int, *problem) {
		n, ok := value.(int64)
		if !ok || n < int64(least) || n > int64(most) {
			return 0, wrong(value, fmt.Sprintf("an integer from %d to %d", least, most))
		}
		return int(n), nil
	}
}

func integers(value any) ([]int, *problem) {
	values, ok := value.([]any)
	if !ok || len(values) == 0 {
		return nil, wrong(value, "an array of integers such as [1]")
	}
	numbers := make([]int, len(values))
	for i, v := range values {
		if p := set(&numbers[i], integer(0, math.MaxInt32))(v); p != nil {
			return nil, p.within(index(i))
		}
	}
	return numbers, nil
}

func environment(value any) (map[string]string, *problem) {
	values, ok := value.(map[string]any)
	if !ok {
		return nil, wrong(value, "a table of strings")
	}
	env := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		s, p := anyText(values[name])
		if name == "" || strings.ContainsAny(name, "=\x00") {
			p = &problem{is: "is no name of a variable, want one without = and zero bytes"}
		}
		if p != nil {
			return nil, p.within(name)
		}
		env[name] = s
	}
	return env, nil
}

// hookCalls parses an array of tables with hook and, optionally, args.
func hookCalls(value any) ([]HookCall, *problem) {
	list, ok := value.([]any)
	if !ok {
		return nil, wrong(value, "an array of tables with hook and args")
	}
	calls := make([]HookCall, len(list))
	for i := range list {
		p := calls[i].keys().read(list[i])
		if p == nil && calls[i].Hook == "" {
			p = &problem{path: []string{"hook"}, is: "is absent, want the name of a hook"}
		}
		if p != nil {
			return nil, p.within(index(i))
		}
	}
	return calls, nil
}

// arguments converts a table or an array to JSON, dates to text.
func arguments(value any) (json.RawMessage, *problem) {
	switch value.(type) {
	case map[string]any, []any:
	default:
		return nil, wrong(value, "an array (positions) or a table (names)")
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, &problem{is: "has a number that JSON does not have"}
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// aboveZero is the least duration of a key that must not be 0.
const aboveZero = time.Nanosecond

// duration parses "2s", "1m30s", or a number of seconds.
func duration(least time.Duration) parser[time.Duration] {
	return func(value any) (time.Duration, *problem) {
		d, ok := ParseDuration(fmt.Sprint(value))
		switch {
		case !ok:
			return 0, wrong(value, `a duration such as "30s", "2m" or a number of seconds`)
		case d < least:
			return 0, wrong(value, "a duration above 0")
		}
		return d, nil
	}
}

// LeastMemory is the lowest memory limit, in bytes. Every Python uses more: a lower
// number lacks its unit.
const LeastMemory = 1 << 20

// memory parses "512MB", "1.5G", or a number of bytes.
func memory(value any) (int64, *problem) {
	bytes, ok := ParseSize(fmt.Sprint(value))
	switch {
	case !ok || bytes < 1:
		return 0, wrong(value, `a size above 0 such as "512MB" or "2GB"`)
	case bytes < LeastMemory:
		return 0, wrong(value, "at least 1MB")
	}
	return bytes, nil
}

// specifiers parses a requires-python.
func specifiers(value any) (string, *problem) {
	s, p := text(value)
	if p == nil {
		p = checkSpecifiers(s)
	}
	return s, p
}

// checkSpecifiers returns what is wrong with a specifier set. An empty one allows
// every version.
func checkSpecifiers(spec string) *problem {
	clause := interp.BadClause(spec)
	if clause == "" {
		return nil
	}
	p := wrong(clause, `a version specifier such as ">=3.11"`)
	if isVersion := !strings.ContainsFunc(clause, func(c rune) bool { return c != '.' && (c < '0' || c > '9') }); isVersion {
		p.hint = didYouMean(">=" + clause)
	}
	return p
}

// index is the step of a path into an array.
func index(i int) string { return fmt.Sprintf("[%d]", i) }

// show returns a value as messages print it.
func show(value any) string {
	switch v := value.(type) {
	case string:
		if len(v) > 60 {
			return fmt.Sprintf("%q…", v[:60])
		}
		return fmt.Sprintf("%q", v)
	case map[string]any:
		return "a table"
	case []any:
		return "an array"
	case int64, float64, bool:
		return fmt.Sprint(v)
	}
	return "a date" // or a time
}
