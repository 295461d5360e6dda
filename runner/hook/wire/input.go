package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// ParseInput returns the arguments in the text of a file: a single JSON object or array, without
// surrounding space. Its errors have the line numbers of the file.
func ParseInput(text []byte) (json.RawMessage, error) {
	if err := schema.CheckUTF8(text); err != nil {
		return nil, fmt.Errorf("it is %w", err)
	}
	value := bytes.TrimSpace(bytes.TrimPrefix(text, []byte(hook.ByteOrderMark)))
	offset, err := schema.CheckJSON(value)
	switch {
	case len(value) == 0:
		return nil, errors.New("it is empty, expected a JSON object or array")
	case err != nil:
		line := 1 + bytes.Count(text[:bytes.Index(text, value)+offset], []byte("\n"))
		return nil, fmt.Errorf("it is not JSON: line %d: %w", line, err)
	case value[0] != '{' && value[0] != '[':
		return nil, errors.New("it holds one value, expected a JSON object (names) or array (positions)")
	}
	return value, nil
}
