package runner_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// annotation is the annotation of a parameter.
type annotation struct {
	text string
	// fits returns a value that the hook accepts.
	fits func(r *rand.Rand) any
	// parses reports whether the hook parses texts. The schema only names their format.
	parses bool
}

// choose returns an annotation that accepts these values.
func choose(text string, values ...any) annotation {
	return annotation{text: text, fits: func(r *rand.Rand) any { return values[r.IntN(len(values))] }}
}

// parsed returns an annotation that accepts these values. The hook rejects other texts.
func parsed(text string, values ...any) annotation {
	n := choose(text, values...)
	n.parses = true
	return n
}

type object = map[string]any

// plain lists annotations that contain no others. hashable lists those that a set can contain.
var (
	hashable = []annotation{
		choose("int", 0, -1, 2.0), choose("float", 1, 2.5), choose("bool", true, false), choose("str", "", "a", "1", "prod"),
		choose("Env", "prod", "DEV"), choose("Level", 1, "LOW"), choose("Literal['a', 1, None]", "a", 1, nil), choose("pathlib.Path", "a/b"),
		parsed("datetime.date", "2026-01-31"), parsed("uuid.UUID", "00000000-0000-0000-0000-000000000000"), parsed("decimal.Decimal", 1.5, "2.50"),
	}
	plain = append([]annotation{
		choose("None", nil), choose("Any", nil, "a", 1, object{}), choose("list", []any{}, []any{1, "a"}), choose("dict", object{}, object{"a": 1}),
		choose("Point", object{"x": 1}, object{"x": 1, "y": 2}), choose("Pair", object{"first": "a"}, []any{"a", false}), choose("Open", object{}, object{"a": 1, "b": "c"}),
		choose("Node", object{"name": "a", "next": object{"name": "b", "next": nil}}), choose("Annotated[int, 'how many']", 3), choose("Tuple[()]", []any{}),
		parsed("bytes", "dGV4dA=="), parsed("datetime.datetime", "2026-01-31T12:00:00", "2026-01-31T12:00:00Z"), parsed("datetime.time", "12:30"),
		parsed("datetime.timedelta", "PT1H30M", 5), parsed("fractions.Fraction", "1/3", 2), parsed("ipaddress.IPv4Address", "127.0.0.1"), parsed("re.Pattern", "a+"),
	}, hashable...)
)

// anyAnnotation returns a random annotation of at most this depth.
func anyAnnotation(r *rand.Rand, deep int) annotation {
	if deep == 0 || r.IntN(3) == 0 {
		return plain[r.IntN(len(plain))]
	}
	a, b := anyAnnotation(r, deep-1), anyAnnotation(r, deep-1)
	either := func(r *rand.Rand) any {
		if r.IntN(2) == 0 {
			return a.fits(r)
		}
		return b.fits(r)
	}
	switch r.IntN(7) {
	case 0:
		return annotation{"List[" + a.text + "]", func(r *rand.Rand) any { return some(r, a) }, a.parses}
	case 1:
		return annotation{"Tuple[" + a.text + ", ...]", func(r *rand.Rand) any { return some(r, a) }, a.parses}
	case 2:
		return annotation{"Tuple[" + a.text + ", " + b.text + "]", func(r *rand.Rand) any { return []any{a.fits(r), b.fits(r)} }, a.parses || b.parses}
	case 3:
		one := hashable[r.IntN(len(hashable))]
		return annotation{"Set[" + one.text + "]", func(r *rand.Rand) any { return some(r, one) }, one.parses}
	case 4:
		key := []annotation{choose("str", "a", ""), choose("int", "1", " -2 "), choose("Env", "prod", "DEV"), parsed("datetime.date", "2026-01-31")}[r.IntN(4)]
		return annotation{"Dict[" + key.text + ", " + a.text + "]", func(r *rand.Rand) any { return object{key.fits(r).(string): a.fits(r)} }, key.parses || a.parses}
	case 5:
		return annotation{"Optional[" + a.text + "]", a.fits, a.parses}
	default:
		return annotation{"Union[" + a.text + ", " + b.text + "]", either, a.parses || b.parses}
	}
}

func some(r *rand.Rand, of annotation) []any {
	items := []any{}
	for range r.IntN(3) {
		items = append(items, of.fits(r))
	}
	return items
}

// FuzzSchemas checks the schemas of random annotations. Each is a valid JSON Schema, and accepts
// all arguments that the hook accepts. The hook accepts all arguments that the schema accepts,
// except texts that the hook parses. Both accept the example in the hook's help.
func FuzzSchemas(f *testing.F) {
	f.Add(uint64(1))
	f.Add(uint64(2))
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		const hooks, values = 16, 12
		notes, source := []annotation{}, runnertest.AnnotatedTypes
		for i := range hooks {
			n := anyAnnotation(r, 3)
			notes = append(notes, n)
			source += fmt.Sprintf("def f%d(a: %s): return 'accepted'\n", i, n.text)
		}
		cfg := file(t, source)
		cfg.Once = true
		p := keep(t, cfg)
		for i, n := range notes {
			name := fmt.Sprintf("f%d", i)
			sch, err := p.Hooks(t.Context(), schema.Query{Hook: name, Input: true})
			if err != nil {
				t.Fatal(n.text, err)
			}
			h := sch.Hooks[0]
			var s jsonschema.Schema
			if err := json.Unmarshal(h.Input, &s); err != nil {
				t.Fatal(n.text, err)
			}
			valid, err := s.Resolve(nil)
			if err != nil {
				t.Fatal(n.text, err)
			}
			if text := string(h.Template); !accepts(t, p, name, text) || valid.Validate(decoded(t, text)) != nil {
				t.Errorf("%s: the example %s is refused", n.text, text)
			}
			for k := range values {
				value := n.fits(r)
				if k%3 == 0 {
					value = anyAnnotation(r, 3).fits(r)
				}
				line, err := json.Marshal(object{"a": value})
				if err != nil {
					t.Fatal(err)
				}
				accepted, refused := accepts(t, p, name, string(line)), valid.Validate(decoded(t, string(line)))
				isParsed := n.parses && strings.Count(string(line), `"`) > 2
				if accepted && refused != nil || !accepted && refused == nil && !isParsed || !accepted && k%3 != 0 {
					t.Errorf("%s: %s: the hook accepts it: %t, the schema says %v", n.text, line, accepted, refused)
				}
			}
		}
	})
}

// accepts reports whether a hook can be called with arguments.
func accepts(t *testing.T, p hook.Caller, name, args string) bool {
	t.Helper()
	_, err := p.Call(t.Context(), call(name, args))
	if err != nil && hook.AsError(err).Kind != hook.Request {
		t.Fatal(name, args, err)
	}
	return err == nil
}

func decoded(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(text, err)
	}
	return value
}
