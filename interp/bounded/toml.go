package bounded

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// ErrKeys is the error for a text with more keys than [TOML] decodes. At least 6 000 keys outside
// of arrays of tables are allowed.
var ErrKeys = errors.New("it has too many keys")

// mostWork is the most comparisons of keys for one text. The decoder makes some 500 million in a
// second, and a file may be decoded a dozen times.
const mostWork = 20e6

// TOML decodes text. The decoder compares each key with all keys before it, except those in
// earlier elements of its array of tables, such as the packages in a lock file. TOML counts the
// keys first, which takes a thousandth of that time.
func TOML(text []byte, into any) error {
	c := counter{elements: map[string]int{}}
	c.parser.Reset(text)
	work := 0
	for c.parser.NextExpression() { // up to a mistake, which the decoder reports
		n := c.expression(c.parser.Expression())
		if work += max(n, 1) * c.keys; work > mostWork {
			return ErrKeys
		}
	}
	return toml.Unmarshal(text, into)
}

// counter counts the keys that the decoder compares the next key with. The count may be too low.
type counter struct {
	parser   unstable.Parser
	keys     int
	array    string         // the latest array of tables
	elements map[string]int // the keys in the latest element of each array
	inside   bool           // the current table is in the latest element of array
}

// expression counts the keys of one expression, and returns their number.
func (c *counter) expression(node *unstable.Node) (n int) {
	name, n := path(node), count(node)
	switch node.Kind {
	case unstable.ArrayTable:
		if before, again := c.elements[name]; again {
			c.keys -= before + n
		}
		c.elements[name], c.array, c.inside = 0, name, true
	case unstable.Table:
		c.inside = c.array != "" && strings.HasPrefix(name, c.array)
	}
	c.keys += n
	if c.inside && node.Kind != unstable.ArrayTable {
		c.elements[c.array] += n
	}
	return n
}

// path is the key of an expression; each part ends with a zero byte.
func path(node *unstable.Node) string {
	var name strings.Builder
	for part := node.Key(); part.Next(); {
		name.Write(part.Node().Data)
		name.WriteByte(0)
	}
	return name.String()
}

// count counts the keys of an expression, with those in its value.
func count(node *unstable.Node) (n int) {
	switch node.Kind {
	case unstable.Table, unstable.ArrayTable, unstable.KeyValue:
		for part := node.Key(); part.Next(); {
			n++
		}
	}
	switch node.Kind {
	case unstable.KeyValue:
		return n + count(node.Value())
	case unstable.InlineTable, unstable.Array:
		n++
		for children := node.Children(); children.Next(); {
			n += count(children.Node())
		}
	}
	return n
}
