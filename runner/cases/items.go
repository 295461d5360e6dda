package cases

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// read sets an answer to the values of "result", of "items", and of "binary": true if all values
// are bytes, or a list if only some items are.
func (a *answer) read(result, items, binary json.RawMessage) error {
	a.Value, a.Streamed = result, items != nil
	var texts []json.RawMessage
	if a.Streamed && (json.Unmarshal(items, &texts) != nil || texts == nil) {
		return fmt.Errorf(`"items" is %s, want an array`, schema.Short(string(items)))
	}
	each := make([]bool, len(texts))
	if binary != nil && json.Unmarshal(binary, &a.Binary) != nil && (json.Unmarshal(binary, &each) != nil || len(each) != len(texts)) {
		return fmt.Errorf(`"binary" is %s, want true`, schema.Short(string(binary)))
	}
	for i, text := range texts {
		a.Items = append(a.Items, hook.Item{Value: text, Binary: a.Binary || each[i], Sole: a.Sole})
		if err := decode64(&a.Items[i], fmt.Sprintf(`"items"[%d]`, i)); err != nil {
			return err
		}
	}
	if result == nil {
		return nil
	}
	return decode64(&a.Item, `"result"`)
}

// decode64 replaces the base64 text of a value that is bytes, and stands at a place in the line, by these.
func decode64(item *hook.Item, place string) error {
	var content []byte
	if item.Binary && json.Unmarshal(item.Value, &content) != nil {
		return fmt.Errorf("%s is %s, want base64", place, schema.Short(string(item.Value)))
	}
	if item.Binary {
		item.Value = content
	}
	return nil
}

// appendItems appends the value of "items".
func appendItems(dst []byte, items []hook.Item) []byte {
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, item.JSON()...)
	}
	return append(dst, ']')
}

// binaryOf returns the value of "binary" for values, nil if none are bytes.
func binaryOf(items []hook.Item) []byte {
	flags := make([]bool, len(items))
	for i, item := range items {
		flags[i] = item.Binary
	}
	switch {
	case !slices.Contains(flags, true):
		return nil
	case !slices.Contains(flags, false):
		return []byte("true")
	}
	text, _ := json.Marshal(flags) // cannot fail
	return text
}
