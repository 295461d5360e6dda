package settings

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Changed returns the settings in force that differ from the defaults, as texts by flag or key. It
// leaves out how the plugin and its Python are found, and the values that may be secret.
func (s Settings) Changed() map[string]string {
	usual := Defaults()
	if s.Transport == grpc {
		usual = Resolve(ServerDefaults(), usual)
	}
	usual.Transport, usual.Preload = s.Transport, s.Preload // chosen for the plugin, so not reported
	changed := map[string]string{}
	for i := range Table {
		row := &Table[i]
		value := row.value(&s)
		if row.Matters != ToNothing && !value.IsZero() && !reflect.DeepEqual(value.Interface(), row.value(&usual).Interface()) {
			changed[row.Name()] = row.text(&s)
		}
	}
	return changed
}

// text returns the setting's value in the form of a flag. It hides the value of a secret.
func (r *Row) text(s *Settings) string {
	switch v := r.value(s).Interface().(type) {
	case Bool:
		return fmt.Sprint(v == On)
	case int:
		return fmt.Sprint(max(v, 0)) // a negative number means no limit, which a flag writes as 0
	case int64:
		if v > 0 && v%(1<<20) == 0 {
			return fmt.Sprintf("%dMB", v>>20)
		}
		return fmt.Sprint(max(v, 0))
	case time.Duration:
		if v == Forever || v <= AtOnce {
			return "0"
		}
		return schema.Span(v)
	case []int:
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(v), "[]"), " ", ",")
	case []string:
		texts := make([]string, len(v))
		for i, text := range v {
			texts[i] = r.open(text)
		}
		return strings.Join(texts, " ")
	case []hook.Call:
		names := make([]string, len(v))
		for i, c := range v {
			names[i] = c.Hook
		}
		return strings.Join(names, " ")
	case string:
		return r.open(v)
	}
	return ""
}

// open returns the part of a text that everybody may see.
func (r *Row) open(text string) string {
	if end := strings.IndexAny(text, "=:"); r.Secret && end >= 0 {
		return text[:end+1] + "…"
	}
	return text
}
