package bounded

import (
	"errors"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// ErrKeys is the error for a text with more keys than [TOML] decodes.
var ErrKeys = errors.New("it has too many keys")

// maxKeys is the largest number of keys, tables and lists in one text. The decoder compares each
// key with those before it, about 500 million in a second, and one file may be decoded a dozen
// times.
const maxKeys = 6500

// TOML decodes the content of a file, see [Text]. It counts the keys first, which takes a
// thousandth of the decoder's time.
func TOML(content []byte, into any) error {
	text := []byte(Text(content))
	var parser unstable.Parser
	parser.Reset(text)
	keys := 0
	for parser.NextExpression() { // ends at a mistake, which the decoder reports
		if keys += count(parser.Expression()); keys > maxKeys {
			return ErrKeys
		}
	}
	return toml.Unmarshal(text, into)
}

// count counts the keys of an expression, including those in its value.
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
