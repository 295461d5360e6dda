package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Decode stores the values of a manifest, which is a table of TOML that may contain tables.
func Decode(s *Settings, table map[string]any) *Mistake { return decodeTable(s, "", table) }

// decodeTable stores the values of a table. prefix is the path of the table.
func decodeTable(s *Settings, prefix string, table map[string]any) *Mistake {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if m := decodeKey(s, prefix, key, table[key]); m != nil {
			return m.Within(key)
		}
	}
	return nil
}

func decodeKey(s *Settings, prefix, key string, value any) *Mistake {
	known := keysBelow(prefix)
	row, isKnown := known[key]
	switch inner, isTable := value.(map[string]any); {
	case !isKnown:
		return unknownKey(key, slices.Sorted(maps.Keys(known)))
	case row != nil:
		return row.decode(s, value)
	case !isTable:
		return Wrong(value, "a table")
	default:
		return decodeTable(s, prefix+key+".", inner)
	}
}

// keysBelow maps the keys in a table to their rows, or to nil if the key is a table. prefix is the
// path of the table.
func keysBelow(prefix string) map[string]*Row {
	keys := map[string]*Row{}
	for i := range Table {
		if rest, below := strings.CutPrefix(Table[i].Key, prefix); below && rest != "" {
			key, _, isTable := strings.Cut(rest, ".")
			if keys[key] = &Table[i]; isTable {
				keys[key] = nil
			}
		}
	}
	return keys
}

// unknownKey returns the mistake for a key that is not known. Its text is empty.
func unknownKey(key string, known []string) *Mistake {
	if strings.Contains(key, "cookie") && slices.Contains(known, "cookie") { // such as cookie-key and cookie-value
		return &Mistake{Hints: schema.DidYouMean(`cookie = "KEY=VALUE"`)}
	}
	return &Mistake{Hints: schema.DidYouMean(schema.Suggest(key, known))}
}

// decode stores a value of a manifest. It reads texts, numbers and booleans of TOML as for a flag.
func (r *Row) decode(s *Settings, value any) *Mistake {
	switch to := r.field(s).(type) {
	case *[]hook.Call:
		return decodeCalls(to, value)
	case *[]string:
		if r.Key == env {
			return decodeEnv(to, value)
		}
		*to = []string{}
		return r.decodeTexts(s, value)
	case *[]int:
		return r.set(s, strings.Trim(fmt.Sprint(value), "[]"), fmt.Sprint(value))
	case *string:
		if _, isText := value.(string); !isText && len(r.Words) == 0 {
			return Wrong(value, "a string")
		}
	}
	return r.set(s, fmt.Sprint(value), show(value))
}

// decodeTexts stores an array of texts.
func (r *Row) decodeTexts(s *Settings, value any) *Mistake {
	list, isList := value.([]any)
	if !isList {
		return Wrong(value, "an array")
	}
	for i, element := range list {
		text, isText := element.(string)
		m := r.set(s, text, show(element))
		if !isText {
			m = Wrong(element, "a string")
		}
		if m != nil {
			return m.Within(Index(i))
		}
	}
	return nil
}

// Index returns the step of a path into an array.
func Index(i int) string { return fmt.Sprintf("[%d]", i) }

// decodeEnv reads a table of variables.
func decodeEnv(to *[]string, value any) *Mistake {
	values, ok := value.(map[string]any)
	if !ok {
		return Wrong(value, "a table of strings")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		text, isText := values[name].(string)
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			return (&Mistake{Text: "is not a variable name, expected one without = and zero bytes"}).Within(name)
		case !isText:
			return Wrong(values[name], "a string").Within(name)
		case strings.ContainsRune(text, 0):
			return Wrong(text, "a string without a zero byte").Within(name)
		}
		*to = append(*to, name+"="+text)
	}
	return nil
}

// decodeCalls reads an array of calls, tables with a hook and its arguments.
func decodeCalls(to *[]hook.Call, value any) *Mistake {
	list, ok := value.([]any)
	if !ok {
		return Wrong(value, "an array")
	}
	*to = make([]hook.Call, len(list))
	for i, element := range list {
		if m := decodeCall(&(*to)[i], element); m != nil {
			return m.Within(Index(i))
		}
	}
	return nil
}

func decodeCall(to *hook.Call, value any) *Mistake {
	table, ok := value.(map[string]any)
	if !ok {
		return Wrong(value, "a table")
	}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		var m *Mistake
		switch key {
		case "hook":
			if to.Hook, ok = table[key].(string); !ok || to.Hook == "" {
				m = Wrong(table[key], "the name of a hook")
			}
		case "args":
			to.Args.JSON, m = decodeArguments(table[key])
		default:
			m = unknownKey(key, []string{"args", "hook"})
		}
		if m != nil {
			return m.Within(key)
		}
	}
	if to.Hook == "" {
		return (&Mistake{Text: "is missing, expected the name of a hook"}).Within("hook")
	}
	return nil
}

// decodeArguments converts a table or an array to JSON. Dates become text.
func decodeArguments(value any) (json.RawMessage, *Mistake) {
	switch value.(type) {
	case map[string]any, []any:
	default:
		return nil, Wrong(value, "an array (positions) or a table (names)")
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, &Mistake{Text: "has a number that JSON cannot represent"}
	}
	return bytes.TrimSpace(out.Bytes()), nil
}
