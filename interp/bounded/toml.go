package bounded

import (
	"errors"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// ErrKeys is the error for a text with more keys than [TOML] decodes.
var ErrKeys = errors.New("it has too many keys")

// mostKeys is the most keys, tables and lists of one text. The decoder compares each key with those
// before it, some 500 million in a second, and a file may be decoded a dozen times.
const mostKeys = 6500

// TOML decodes the content of a file, see [Text]. It counts the keys first, which takes a thousandth of the decoder's time.
func TOML(content []byte, into any) error {
	text := []byte(Text(content))
	var parser unstable.Parser
	parser.Reset(text)
	keys := 0
	for parser.NextExpression() { // up to a mistake, which the decoder reports
		if keys += count(parser.Expression()); keys > mostKeys {
			return ErrKeys
		}
	}
	return toml.Unmarshal(text, into)
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
