package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// maxDifferences is the maximum number of differences that a comparison returns.
const maxDifferences = 10

// differences returns the places where two decoded values differ, or nil if they are equal. The
// flag some allows further members in objects, and further elements before, between and after the
// expected ones in lists. If of is not nil, it describes the messages in the values.
func differences(wanted, got any, some bool, of *messages) []Difference {
	c := &comparison{some: some, of: of, limit: maxDifferences}
	c.differ("$", wanted, got, of != nil)
	return c.found
}

// about sets the Message of each difference to message and its place. If the place is the whole
// value, about leaves it out.
func about(message string, found []Difference) []Difference {
	for i, d := range found {
		if found[i].Message = message; d.Place == "$" {
			found[i].Place = ""
		} else {
			found[i].Message += " at " + d.Place
		}
	}
	return found
}

// comparison compares two decoded values.
type comparison struct {
	some  bool
	of    *messages // describes the messages in the values
	limit int       // the maximum number of differences
	found []Difference
}

func (c *comparison) add(place string, wanted, got json.RawMessage) {
	if len(c.found) < c.limit {
		c.found = append(c.found, Difference{Place: place, Wanted: wanted, Got: got})
	}
}

// same reports whether two values are equal.
func (c *comparison) same(wanted, got any, fields bool) bool {
	one := &comparison{some: c.some, of: c.of, limit: 1}
	one.differ("", wanted, got, fields)
	return one.found == nil
}

// differ adds the differences of two values. fields is set if the members of objects are fields of
// messages. An absent field equals a field with a zero value.
func (c *comparison) differ(place string, wanted, got any, fields bool) {
	if len(c.found) == c.limit {
		return
	}
	switch w := wanted.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			c.objects(place, w, g, fields)
			return
		}
	case []any:
		if g, ok := got.([]any); ok {
			c.lists(place, w, g, fields)
			return
		}
	case json.Number:
		if g, ok := got.(json.Number); ok && sameNumber(string(w), string(g)) {
			return
		}
	default:
		if wanted == got {
			return
		}
	}
	c.add(place, encode(wanted), encode(got))
}

// objects compares the members of objects, in the order of their names.
func (c *comparison) objects(place string, wanted, got map[string]any, fields bool) {
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		value, ok := got[key]
		switch at := member(place, key); {
		case ok:
			c.differ(at, wanted[key], value, fields && !c.of.maps[key])
		case !fields || !c.of.isZero(wanted[key]):
			c.add(at, encode(wanted[key]), nil)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := wanted[key]; !ok && !c.some && !(fields && c.of.isZero(got[key])) {
			c.add(member(place, key), nil, encode(got[key]))
		}
	}
}

// lists compares the elements of lists.
func (c *comparison) lists(place string, wanted, got []any, fields bool) {
	next := 0 // the index in got
	for i, value := range wanted {
		at, here := fmt.Sprintf("%s[%d]", place, i), next
		for c.some && here < len(got) && !c.same(value, got[here], fields) {
			here++
		}
		if here == len(got) {
			c.add(at, encode(value), nil)
			continue
		}
		c.differ(at, value, got[here], fields)
		next = here + 1
	}
	for ; next < len(got) && !c.some && len(c.found) < c.limit; next++ {
		c.add(fmt.Sprintf("%s[%d]", place, next), nil, encode(got[next]))
	}
}

var plainKey = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// member returns the place of a member of an object.
func member(place, key string) string {
	if plainKey.MatchString(key) {
		return place + "." + key
	}
	return place + "[" + string(schema.Quote(key)) + "]"
}

// The maximum difference of two floats that count as equal, relative to the larger one or absolute.
const (
	relative = 1e-9
	absolute = 1e-12
)

// sameNumber reports whether two JSON numbers are equal. Integers of any size must be exactly
// equal.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX != nil || errY != nil: // out of range
		return false
	case !strings.ContainsAny(a+b, ".eE"):
		return x == 0 && y == 0 // 0 equals -0
	}
	return math.Abs(x-y) <= max(absolute, relative*max(math.Abs(x), math.Abs(y)))
}

// encode returns the JSON of a decoded value.
func encode(value any) json.RawMessage {
	text, _ := hook.Marshal(value) // cannot fail, because the value was decoded
	return text
}

// surrogates matches an escape sequence in JSON: a pair of surrogates, a lone surrogate, or another
// escape.
var surrogates = regexp.MustCompile(`\\(u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|.)`)

// decode decodes a JSON value. It keeps numbers as text. It also keeps lone surrogates, which
// encoding/json would replace. With --nan literal, a result may be invalid JSON; then decode
// returns it as a string.
func decode(value json.RawMessage) any {
	if bytes.Contains(value, []byte(`\ud`)) || bytes.Contains(value, []byte(`\uD`)) {
		value = surrogates.ReplaceAllFunc(value, func(escape []byte) []byte {
			if len(escape) == len(`\ud800`) {
				return append([]byte(`\`), bytes.ToLower(escape)...)
			}
			return escape
		})
	}
	var decoded any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	if err := d.Decode(&decoded); err != nil && err != io.EOF {
		return string(value)
	}
	return decoded
}

// messages describes the fields of the messages that a gRPC method returns. protojson omits a field
// that has its zero value.
type messages struct {
	maps  map[string]bool // the names of fields that are maps, whose members are not fields
	zeros map[string]bool // the texts that are zero values, such as the first values of enums
}

var (
	ofMap  = regexp.MustCompile(`(\w+): (?:map<|message google\.protobuf\.(?:Struct|Value|ListValue|Any)\b)`)
	ofEnum = regexp.MustCompile(`\benum \S+ \((\w+)`)
)

// messagesOf describes the messages that a hook returns. It returns nil if the hook returns other
// values.
func messagesOf(h schema.Hook) *messages {
	text := h.Returns
	if !strings.Contains(h.Name, "/") || !strings.Contains(text, "{") {
		return nil
	}
	for _, m := range h.Messages {
		for _, field := range m.Fields {
			text += ", " + field.Name + ": " + field.Type
		}
	}
	found := &messages{maps: map[string]bool{}, zeros: map[string]bool{"": true, "0": true}}
	for _, m := range ofMap.FindAllStringSubmatch(text, -1) {
		found.maps[m[1]] = true
	}
	for _, m := range ofEnum.FindAllStringSubmatch(text, -1) {
		found.zeros[m[1]] = true
	}
	return found
}

// isZero reports whether a value may be the zero value of a field.
func (m *messages) isZero(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case bool:
		return !v
	case json.Number:
		return sameNumber(string(v), "0")
	case string:
		return m.zeros[v]
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}
