package lines

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// keys lists the keys of a line: the keys of the call, of its answer, and of a case.
var keys = [...]string{"id", "hook", "args", "text", "base64",
	"result", "items", "binary", "sole", "error", "attempts", "occurrence",
	"name", "match", "contains", "health", "under", "skip"}

// indexOf returns the index of a key, which is a JSON string, in keys, or -1.
func indexOf(quoted []byte) int {
	key := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(key, '\\') >= 0 {
		key = schema.Unquote(quoted)
	}
	for i := range keys {
		if keys[i] == string(key) {
			return i
		}
	}
	return -1
}

// synonyms maps words that other tools use to keys.
var synonyms = map[string]string{
	"function": "hook", "func": "hook", "method": "hook", "call": "hook",
	"arguments": "args", "params": "args", "input": "args", "kwargs": "args",
	"expect": "result", "expected": "result", "want": "result", "wanted": "result", "output": "result", "returns": "result", "value": "result",
	"yields": "items", "stream": "items", "raises": "error", "exception": "error", "throws": "error",
	"regex": "match", "pattern": "match", "title": "name", "description": "name", "timeout": "under",
}

func unknownKey(name string) *hook.Error {
	e := badLine("unknown key %s, expected id, hook and args", schema.Quote(schema.Short(name)))
	e.Hints = schema.DidYouMean(cmp.Or(synonyms[strings.ToLower(name)], schema.Suggest(name, keys[:])))
	return e
}
