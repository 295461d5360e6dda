package schema

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// decoded has each kind of field that is read from outside.
type decoded struct {
	Name  string          `json:"name"`
	Plain int             // without a tag
	Raw   json.RawMessage `json:"raw"`
	Inner struct {
		Is bool `json:"is"`
	} `json:"inner"`
	List []struct {
		K string `json:"k"`
	} `json:"list"`
	Map  map[string]embedded `json:"map"`
	Any  any                 `json:"any"`
	Next *decoded            `json:"next"`
	Path Path                `json:"path"` // it has its own decoder
	embedded
}

type embedded struct {
	Name  int    `json:"name"` // hidden by the outer field
	Below string `json:"below"`
}

// TestDecode checks that keys must be exact, and cannot be given twice.
func TestDecode(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"a"}`: `{"name":"a"}`,
		`{"name":"a","NAME":"b","ſ":1,"nAme":{"x":[]}}`: `{"name":"a"}`,
		`{"NAME":"b","name":"a"}`:                       `{"name":"a"}`,
		`{"Name":"b"}`:                                  `{}`,
		`{"n\u0061me":"a","n\u0041me":"b"}`:             `{"name":"a"}`,
		`{"name":"a","n\u0061me":"b"}`:                  `"name" is given twice, byte 12`,
		`{"name":"a", "name":"b","name":"c"}`:           `"name" is given twice, byte 13`,
		`{"unknown":1,"unknown":2}`:                     `{}`,
		`{"plain":1}`:                                   `{}`,
		`{"Plain":1}`:                                   `{"Plain":1}`,
		`{"raw":{"a":1,"a":2,"NAME":3}}`:                `{"raw":{"a":1,"a":2,"NAME":3}}`,
		`{"inner":{"IS":true}}`:                         `{}`,
		`{"inner":{"is":true,"is":false}}`:              `"is" is given twice, byte 20`,
		`{"list":[{"k":"a","K":"b"},{"k":"c"}]}`:        `{"list":[{"k":"a"},{"k":"c"}]}`,
		`{"list":[{"k":"a"},{"k":"a","k":"b"}]}`:        `"k" is given twice, byte 28`,
		`{"map":{"x":{"below":"a"},"X":{"BELOW":"b"}}}`: `{"map":{"x":{"below":"a"},"X":{}}}`,
		`{"map":{"x":{},"x":{}}}`:                       `"x" is given twice, byte 15`,
		`{"any":[{"x":1,"X":2}]}`:                       `{"any":[{"x":1,"X":2}]}`,
		`{"any":[{"x":{"y":1,"y":2}}]}`:                 `"y" is given twice, byte 20`,
		`{"next":{"next":{"name":"a","NAME":"b"}}}`:     `{"next":{"next":{"name":"a"}}}`,
		`{"below":"a","BELOW":"b"}`:                     `{"below":"a"}`,
		`{"path":"\udc80"}`:                             `{"path":"\udc80"}`,
		` { "name" : "a" , "NAME" : "b" } `:             `{"name":"a"}`,
		`null`:                                          `{}`,
		``:                                              "unexpected end of JSON input",
		`{"name":"a","name":"b"`:                        "unexpected end of JSON input",
		`{"name"`:                                       "unexpected end of JSON input",
		`{"name":"\`:                                    "invalid character ' ' in string escape code",
		`{,}`:                                           "invalid character ',' looking for beginning of object key string",
		`{"name":1}`:                                    "json: cannot unmarshal number into Go struct field decoded.name of type string",
		`{"any":` + strings.Repeat("[", 1_000_000):      "invalid character '[' exceeded max depth",
	} {
		var got decoded
		err := Decode([]byte(text), &got)
		var seen string
		if wrong := (*KeyError)(nil); errors.As(err, &wrong) {
			seen = wrong.Error() + ", byte " + string(AppendJSON(nil, jsonOf(wrong.Offset)))
		} else if err != nil {
			seen = err.Error()
		}
		if err != nil {
			if seen != want {
				t.Errorf("%.100s: %s, want %s", text, seen, want)
			}
			continue
		}
		var wanted decoded
		if err := json.Unmarshal([]byte(want), &wanted); err != nil || !reflect.DeepEqual(got, wanted) {
			t.Errorf("%.100s: got %+v, want %s", text, got, want)
		}
	}
}

func jsonOf(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// TestDecodeKnown checks that a known key in another letter case counts as unknown.
func TestDecodeKnown(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"a","any":{"x":1}}`:  "",
		`{"name":"a","NAME":"b"}`:     `unknown key "NAME"`,
		`{"inner":{"is":true,"x":1}}`: `unknown key "x"`,
		`{"name":"a","name":"b"}`:     `"name" is given twice`,
	} {
		seen := ""
		if err := DecodeKnown([]byte(text), new(decoded)); err != nil {
			seen = err.Error()
		}
		if seen != want {
			t.Errorf("%s: %s, want %s", text, seen, want)
		}
	}
}

// FuzzDecode checks that Decode returns the same as encoding/json, unless keys are given twice or
// in another letter case.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{`{"name":"a","NAME":"b"}`, `{"map":{"x":{"below":"\""}},"any":[{}],"list":[{"k":"\\"}]}`, `{"raw":[[{"a":"}"}]],"a":{"b":[1]}}`, `[[[[`, `{"name`, `{"a":}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want decoded
		err, wanted := Decode(text, &got), json.Unmarshal(text, &want)
		if isPlain := !hasLike(string(text)); isPlain && (err == nil) != (wanted == nil) && Twice(err) == nil || isPlain && err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v, %v", text, got, err, want, wanted)
		}
	})
}

// hasLike reports whether a text may have a known key in another letter case.
func hasLike(text string) bool {
	if strings.ContainsAny(text, `\`) {
		return true
	}
	for _, name := range append(shapeOf(reflect.TypeFor[decoded]()).names, "is", "k") {
		if n := strings.Count(strings.ToUpper(text), strings.ToUpper(name)); n != strings.Count(text, name) {
			return true
		}
	}
	return strings.ContainsAny(text, "ſ\u212a") // these are folded to s and k
}
