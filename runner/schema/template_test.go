package schema

import "testing"

func TestTemplate(t *testing.T) {
	for name, c := range map[string]struct {
		params []Param
		want   string
	}{
		"nothing": {nil, "{}"},
		"names": {
			[]Param{{Name: "name", Required: true, Kind: Ordinary}, {Name: "n", Default: "3", Kind: Ordinary},
				{Name: "rest", Kind: VarPositions}, {Name: "loud", Default: "False", Kind: NameOnly}},
			"{\n  \"name\": null,\n  \"n\": 3,\n  \"loud\": false\n}",
		},
		"texts": {
			[]Param{{Name: "a", Default: "'it'", Kind: Ordinary}, {Name: "b", Default: `'it\'s'`, Kind: Ordinary},
				{Name: "c", Default: "None", Kind: Ordinary}, {Name: "d", Default: "''", Kind: Ordinary}},
			"{\n  \"a\": \"it\",\n  \"b\": null,\n  \"c\": null,\n  \"d\": \"\"\n}",
		},
		"positions": {
			[]Param{{Name: "a", Kind: PositionOnly}, {Name: "b", Default: "1.5", Kind: Ordinary}, {Name: "c", Kind: NameOnly}},
			"[\n  null,\n  1.5\n]",
		},
	} {
		if got := string(Template(Hook{Params: c.params})); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
