//go:build linux

package commands_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// annotated are annotations of parameters. Types in parsed are sent as text that the hook parses,
// while the schema only names the format of the text.
var (
	annotated = []string{
		"int", "float", "bool", "str", "bytes", "None", "typing.Any", "list", "dict", "typing.Optional[int]", "typing.Union[int, str]", "typing.Union[float, None, bool]",
		"typing.List[int]", "typing.Dict[str, int]", "typing.Dict[int, str]", "typing.Tuple[int, str]", "typing.Tuple[int, ...]", "typing.Set[str]", "typing.Dict[Env, bool]",
		"Env", "Level", "Odd", "typing.Literal['a', 1, None]", "Point", "Node", "Pair", "Open", "typing.List[Point]", "typing.Union[Point, typing.List[Env]]",
		"datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta", "decimal.Decimal", "fractions.Fraction", "uuid.UUID", "pathlib.Path", "ipaddress.IPv4Address", "re.Pattern",
	}
	parsed = []string{"bytes", "date", "time", "Decimal", "Fraction", "UUID", "IPv4", "Pattern"}
	values = []string{
		`null`, `true`, `1`, `0`, `-1`, `2.0`, `2.5`, `""`, `"a"`, `"1"`, `"prod"`, `"PROD"`, `"LOW"`, `"2026-01-31"`, `"PT1H"`, `"dGV4dA=="`, `"00000000-0000-0000-0000-000000000000"`,
		`[]`, `[1]`, `["a"]`, `[1,"a"]`, `[1,2]`, `[1,"a",2]`, `[[1],["a"]]`, `[null]`, `["a",true]`, `["a",1]`, `["prod"]`, `[{"x":1}]`, `{}`, `{"a":1}`, `{"1":"a"}`, `{" 2 ":"b"}`, `{"x":1}`, `{"x":1,"y":2}`, `{"x":1,"z":2}`, `{"x":"1"}`,
		`{"PROD":true}`, `{"prod":true}`, `{"first":"a"}`, `{"first":"a","second":true,"third":1}`, `{"name":"a","next":{"name":"b","next":null}}`, `{"name":"a","next":{"other":1}}`, `{"a":"x","b":1}`,
	}
)

// TestMCPSchemas checks that the schema never rejects a value that the hook accepts, except the
// name of a member of an enum. The hook may reject a value that the schema accepts only if it
// parses a text or a key, or if the class itself decides.
func TestMCPSchemas(t *testing.T) {
	t.Parallel()
	source := runnertest.AnnotatedTypes
	for i, note := range annotated {
		source += fmt.Sprintf("def f%d(a: %s): return 'accepted'\n", i, note)
	}
	m := mcpOf(t, nil, writePlugin(t, source))
	var listed struct {
		Result struct {
			Tools []struct {
				InputSchema *jsonschema.Schema
			}
		}
	}
	if err := json.Unmarshal([]byte(m.ask("tools/list", "{}")), &listed); err != nil || len(listed.Result.Tools) != len(annotated) {
		t.Fatalf("%+v, %v", listed, err)
	}
	for i, tool := range listed.Result.Tools {
		schema, err := tool.InputSchema.Resolve(nil)
		if err != nil {
			t.Errorf("%s: %v", annotated[i], err)
			continue
		}
		isParsed := slices.ContainsFunc(parsed, func(part string) bool { return strings.Contains(annotated[i], part) })
		for _, text := range values {
			var value any
			if err := json.Unmarshal([]byte(text), &value); err != nil {
				t.Fatal(err)
			}
			accepts := strings.Contains(m.ask("tools/call", fmt.Sprintf(`{"name":"f%d","arguments":{"a":%s}}`, i, text)), `"text":"accepted"`)
			err := schema.Validate(map[string]any{"a": value})
			_, isText := value.(string)
			_, isTable := value.(map[string]any)
			isKey := isTable && (strings.HasPrefix(annotated[i], "typing.Dict[int") || strings.HasPrefix(annotated[i], "typing.Dict[Env"))
			isName := text == `"PROD"` || text == `"LOW"`
			if accepts && err != nil && !isName || !accepts && err == nil && !(isParsed && isText) && !isKey && annotated[i] != "Odd" {
				t.Errorf("%s: %s: the hook accepts it: %t, the schema says %v", annotated[i], text, accepts, err)
			}
		}
	}
	m.close()
}

// returned are hooks whose results are objects. Many of their values are text in JSON.
const returned = runnertest.AnnotatedTypes + `
@dataclasses.dataclass
class Given:
    seed: dataclasses.InitVar[int]
    x: int = 1
    size: int = dataclasses.field(init=False, default=0)
    when: datetime.datetime = None
    limit: decimal.Decimal = decimal.Decimal("1.5")
@dataclasses.dataclass
class Own:
    x: int
    def __json__(self): return [self.x]
class Row(typing.TypedDict):
    at: datetime.datetime
    took: datetime.timedelta
    own: Own
    pair: Pair
    levels: typing.Dict[Level, bytes]
def plain() -> dict: return {"a": [1]}
def point() -> Point: return Point(1)
def node() -> Node: return Node("a", Node("b"))
def given() -> Given: return Given(1)
def dates() -> typing.Dict[datetime.date, typing.Set[float]]: return {datetime.date(2026, 1, 31): {1.5, 2}}
def row() -> Row:
    return {"at": datetime.datetime(2026, 1, 31), "took": datetime.timedelta(hours=1), "own": Own(1), "pair": Pair("a"), "levels": {Level.LOW: b"x"}, "more": 1}
async def later() -> "Point": return Point(2, 3)
def array() -> typing.List[dict]: return [{}]
def none(): return {}
`

// TestMCPResults checks that a tool has a schema of its result if it was requested and the result
// is an object, and that the result fits.
func TestMCPResults(t *testing.T) {
	t.Parallel()
	path := writePlugin(t, returned)
	manifest := "entry = 'tools.py'\n[mcp]\noutput-schema = ['*']\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "pyplug.toml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	m := mcpOf(t, nil, filepath.Dir(path))
	var listed struct {
		Result struct {
			Tools []struct {
				Name         string
				OutputSchema *jsonschema.Schema
			}
		}
	}
	if err := json.Unmarshal([]byte(m.ask("tools/list", "{}")), &listed); err != nil {
		t.Fatal(err)
	}
	var without []string
	for _, tool := range listed.Result.Tools {
		if tool.OutputSchema == nil {
			without = append(without, tool.Name)
			continue
		}
		var called struct {
			Result struct{ StructuredContent any }
		}
		answer := m.ask("tools/call", fmt.Sprintf(`{"name":%q}`, tool.Name))
		schema, err := tool.OutputSchema.Resolve(nil)
		if err == nil {
			err = json.Unmarshal([]byte(answer), &called)
		}
		if err == nil {
			err = schema.Validate(called.Result.StructuredContent)
		}
		if err != nil || called.Result.StructuredContent == nil {
			t.Errorf("%s: %s: %v", tool.Name, answer, err)
		}
	}
	if want := []string{"array", "none"}; !slices.Equal(without, want) {
		t.Errorf("%q have no schema, want %q", without, want)
	}
	m.close()
}
