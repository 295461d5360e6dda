package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/schema"
)

// problem is what is wrong with a value.
type problem struct {
	path []string // the keys and indices that lead to the value
	is   string   // the predicate of the message; empty if the key is unknown
	hint []schema.Hint
}

// wrong returns the problem that value is not what was wanted.
func wrong(value any, wanted string) *problem {
	return &problem{is: fmt.Sprintf("is %s, want %s", show(value), wanted)}
}

// within adds steps to the front of the path.
func (p *problem) within(steps ...string) *problem {
	p.path = slices.Concat(steps, p.path)
	return p
}

// decode sets v from a decoded TOML value. The tags of its field say which values are valid, see
// [Manifest].
func decode(v reflect.Value, tag reflect.StructTag, value any) *problem {
	switch to := v.Addr().Interface().(type) {
	case *time.Duration:
		return decodeDuration(to, tag, value)
	case *int64:
		return decodeSize(to, value)
	case *json.RawMessage:
		return decodeArguments(to, value)
	case *map[string]string:
		return decodeEnvironment(to, value)
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decode(v.Elem(), tag, value)
	case reflect.Struct:
		return decodeTable(v, value)
	case reflect.Slice:
		return decodeArray(v, value)
	case reflect.Int:
		least, most := 0, math.MaxInt32
		_, _ = fmt.Sscanf(tag.Get("range"), "%d-%d", &least, &most) // most have no range of their own
		n, ok := value.(int64)
		if !ok || n < int64(least) || n > int64(most) {
			return wrong(value, fmt.Sprintf("an integer from %d to %d", least, most))
		}
		v.SetInt(cmp.Or(n, zeros[tag.Get("zero")]))
	case reflect.Bool:
		b, ok := value.(bool)
		if !ok {
			return wrong(value, "true or false")
		}
		v.SetBool(b)
	default:
		s, p := text(value, tag)
		v.SetString(s)
		return p
	}
	return nil
}

// decodeTable rejects unknown keys and missing required keys.
func decodeTable(v reflect.Value, value any) *problem {
	values, ok := value.(map[string]any)
	if !ok {
		return wrong(value, "a table")
	}
	fields := map[string]int{}
	for i := range v.NumField() {
		if key := v.Type().Field(i).Tag.Get("key"); key != "" {
			fields[key] = i
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		i, known := fields[key]
		if !known {
			return unknownKey(key, slices.Sorted(maps.Keys(fields)))
		}
		if p := decode(v.Field(i), v.Type().Field(i).Tag, values[key]); p != nil {
			return p.within(key)
		}
	}
	for key, i := range fields {
		if want := v.Type().Field(i).Tag.Get("required"); want != "" && values[key] == nil {
			return &problem{path: []string{key}, is: "is missing, want " + want}
		}
	}
	return nil
}

func unknownKey(key string, known []string) *problem {
	return &problem{path: []string{key}, hint: schema.DidYouMean(schema.Suggest(key, known))}
}

func decodeArray(v reflect.Value, value any) *problem {
	list, ok := value.([]any)
	if !ok {
		return wrong(value, "an array")
	}
	v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
	for i, element := range list {
		if p := decode(v.Index(i), "", element); p != nil {
			return p.within(index(i))
		}
	}
	return nil
}

// text checks a string. It must not be empty unless its tag says so.
func text(value any, tag reflect.StructTag) (string, *problem) {
	s, ok := value.(string)
	allowed := strings.FieldsFunc(tag.Get("one"), func(c rune) bool { return c == ',' })
	if tag.Get("key") == "host" {
		allowed = HostNames()
	}
	if len(allowed) > 0 {
		if slices.Contains(allowed, s) {
			return s, nil
		}
		last := len(allowed) - 1
		p := wrong(value, fmt.Sprintf(`"%s" or "%s"`, strings.Join(allowed[:last], `", "`), allowed[last]))
		p.hint = schema.DidYouMean(schema.Suggest(s, allowed))
		return "", p
	}
	switch {
	case !ok:
		return "", wrong(value, "a string")
	case strings.ContainsRune(s, 0):
		return "", wrong(value, "a string without a zero byte")
	case s == "" && tag.Get("empty") == "":
		return "", wrong(value, "a string that is not empty")
	case tag.Get("key") == "requires-python":
		return s, checkSpecifiers(s)
	}
	return s, nil
}

func decodeEnvironment(to *map[string]string, value any) *problem {
	values, ok := value.(map[string]any)
	if !ok {
		return wrong(value, "a table of strings")
	}
	*to = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		s, p := text(values[name], `empty:"yes"`)
		if name == "" || strings.ContainsAny(name, "=\x00") {
			p = &problem{is: "is not a variable name, want one without = and zero bytes"}
		}
		if p != nil {
			return p.within(name)
		}
		(*to)[name] = s
	}
	return nil
}

// decodeArguments converts a table or an array to JSON, dates to text.
func decodeArguments(to *json.RawMessage, value any) *problem {
	switch value.(type) {
	case map[string]any, []any:
	default:
		return wrong(value, "an array (positions) or a table (names)")
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return &problem{is: "has a number that JSON cannot represent"}
	}
	*to = bytes.TrimSpace(out.Bytes())
	return nil
}

func decodeDuration(to *time.Duration, tag reflect.StructTag, value any) *problem {
	d, ok := schema.ParseDuration(fmt.Sprint(value))
	switch {
	case !ok:
		return wrong(value, `a duration such as "30s", "2m" or a number of seconds`)
	case d == 0 && tag.Get("zero") == "no":
		return wrong(value, "a duration above 0")
	}
	*to = cmp.Or(d, time.Duration(zeros[tag.Get("zero")]))
	return nil
}

// LeastMemory is the lowest memory limit, in bytes. Every Python uses more, so a lower number
// probably lacks its unit.
const LeastMemory = 1 << 20

func decodeSize(to *int64, value any) *problem {
	bytes, ok := ParseSize(fmt.Sprint(value))
	switch {
	case !ok || bytes < 1:
		return wrong(value, `a size above 0 such as "512MB" or "2GB"`)
	case bytes < LeastMemory:
		return wrong(value, "at least 1MB")
	}
	*to = bytes
	return nil
}

// checkSpecifiers returns the mistake in a specifier set, or nil. "" allows every version.
func checkSpecifiers(spec string) *problem {
	clause := interp.BadClause(spec)
	if clause == "" {
		return nil
	}
	p := wrong(clause, `a version specifier such as ">=3.11"`)
	if isVersion := !strings.ContainsFunc(clause, func(c rune) bool { return c != '.' && (c < '0' || c > '9') }); isVersion {
		p.hint = schema.DidYouMean(">=" + clause)
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

// size matches a number of bytes with its unit.
var size = pysrc.Expression(`(?i)^(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]?)(?:i?b)?$`)

// ParseSize parses a number of bytes: "512MB", "1.5G", or only digits. K, M, G and T
// are powers of 1024, with or without B or iB.
func ParseSize(text string) (bytes int64, ok bool) {
	m := size().FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, _ := strconv.ParseFloat(m[1], 64) // cannot fail: digits
	if m[2] != "" {
		n *= math.Pow(1024, float64(1+strings.Index("kmgt", strings.ToLower(m[2]))))
	}
	return int64(n), n < math.MaxInt64
}
