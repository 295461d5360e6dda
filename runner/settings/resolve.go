package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"sync"
)

// Resolve merges sources. Each setting has the value of the first source that sets it. Lists of
// texts are concatenated, with the list of the first source at the end.
func Resolve(sources ...Settings) (s Settings) {
	for i := range Table {
		row := &Table[i]
		to := row.value(&s)
		for j := range sources {
			switch from := row.value(&sources[j]); {
			case from.IsZero():
			case to.IsZero():
				to.Set(from)
			case row.Repeats():
				to.Set(reflect.AppendSlice(reflect.ValueOf(slices.Clone(from.Interface().([]string))), to))
			}
		}
	}
	return s
}

// Defaults returns the default values.
var Defaults = sync.OnceValue(func() Settings { return columnOf(func(r *Row) string { return r.Default }) })

// ServerDefaults returns the defaults that apply only to gRPC plugins.
var ServerDefaults = sync.OnceValue(func() Settings { return columnOf(func(r *Row) string { return r.ServerDefault }) })

// columnOf returns the values in a column of the table.
func columnOf(column func(r *Row) string) (s Settings) {
	for i := range Table {
		row := &Table[i]
		if text := column(row); text != "" {
			if err := row.Set(&s, text); err != nil {
				panic("the default of " + row.Name() + " " + err.Error())
			}
		}
	}
	return s
}

// Digest returns the same texts for two starts with equal settings. calls covers the settings that
// affect calls, and rest the others.
func (s Settings) Digest() (calls, rest string) {
	var texts [2][]byte
	for i := range Table {
		if row := &Table[i]; row.Matters != ToNothing {
			texts[row.Matters] = fmt.Appendf(texts[row.Matters], "%s=%#v\n", row.Name(), row.value(&s))
		}
	}
	return digestOf(texts[ToAll]), digestOf(texts[ToStart])
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Deciding returns the first flag that makes the plugin a gRPC plugin, with its dashes, or "".
func (s Settings) Deciding() string {
	for i := range Table {
		if row := &Table[i]; row.Decides && row.IsSet(&s) && row.value(&s).Interface() != any(Off) {
			return "--" + row.Flag
		}
	}
	return ""
}
