package cases

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// parseItems reads "items", which are nil for a result, and "binary": true if all values are bytes, or
// a list if only some are.
func parseItems(values, binary json.RawMessage) (items []hook.Item, all bool, err error) {
	var texts []json.RawMessage
	if values != nil && (json.Unmarshal(values, &texts) != nil || texts == nil) {
		return nil, false, fmt.Errorf(`"items" is %s, want an array`, schema.Short(string(values)))
	}
	each := make([]bool, len(texts))
	if binary != nil && json.Unmarshal(binary, &all) != nil && (json.Unmarshal(binary, &each) != nil || len(each) != len(texts)) {
		return nil, false, fmt.Errorf(`"binary" is %s, want true`, schema.Short(string(binary)))
	}
	for i, text := range texts {
		items = append(items, hook.Item{Value: text, Binary: all || each[i]})
	}
	return items, all, nil
}

// appendItems appends the value of "items".
func appendItems(dst []byte, items []hook.Item) []byte {
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, item.Value...)
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
