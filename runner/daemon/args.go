package daemon

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// decodeArgs reads the arguments of a call. It rejects every body that is not exactly
// what docs/http.md says: what a transport sends to the plugin contains parts of it.
func decodeArgs(mediaType string, body []byte) (args hook.Args, err error) {
	body = bytes.Trim(body, " \t\r\n")
	if len(body) == 0 && mediaType != wordsType {
		return args, nil
	}
	if err = schema.CheckUTF8(body); err != nil {
		return args, fmt.Errorf("the body is %w", err)
	}
	if offset, err := schema.CheckJSON(body); err != nil {
		return args, fmt.Errorf("the body is not JSON: byte %d: %w", offset+1, err)
	}
	args.Valid = true
	switch {
	case mediaType == wordsType:
		args.Words, err = decodeWords(body)
	case body[0] == '{' || body[0] == '[':
		args.JSON = body
	default:
		err = errors.New("the body is not a JSON object (names) or array (positions)")
	}
	return args, err
}

// decodeWords reads {"words": [WORD, …]}. Errors begin with the place.
func decodeWords(body []byte) ([]schema.Word, error) {
	given, err := members(body)
	if err != nil {
		return nil, fmt.Errorf("the body%w", err)
	}
	list, ok := given["words"]
	if !ok || len(given) > 1 {
		return nil, fmt.Errorf(`the body has %s, want only "words"`, keysOf(given))
	}
	if list[0] != '[' {
		return nil, fmt.Errorf("words%w", unwanted(list, "an array"))
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(list, &elements); err != nil {
		return nil, err
	}
	words := make([]schema.Word, len(elements))
	for i, element := range elements {
		if words[i], err = decodeWord(element); err != nil {
			return nil, fmt.Errorf("words[%d]%w", i, err)
		}
	}
	return words, nil
}

// besides are the keys that a word may have beside the one with its value.
var besides = map[string][]string{"typed": {"file"}, "text": {"name", "form"}, "base64": {"name", "form"}, "json": {"name", "form"}}

// decodeWord reads one word. Errors follow its place.
func decodeWord(element []byte) (w schema.Word, err error) {
	given, err := members(element)
	if err != nil {
		return w, err
	}
	var source string // the key with the value
	for key := range given {
		if besides[key] != nil {
			source = key
		}
	}
	for key := range given {
		if key != source && !slices.Contains(besides[source], key) {
			source = ""
		}
	}
	if source == "" {
		return w, fmt.Errorf(` has %s, want "typed", or one of "text", "base64" and "json" with or without "name" and "form"`, keysOf(given))
	}
	value := string(given[source])
	if source != "json" {
		if value, err = textOf(given, source); err != nil {
			return w, err
		}
	}
	switch source {
	case "typed":
		return decodeTyped(value, given)
	case "base64":
		var text []byte
		if text, err = base64.StdEncoding.DecodeString(value); err != nil {
			return w, fmt.Errorf(".base64 is not base64: %w", err)
		}
		value = string(text)
	}
	return decodeParts(source, value, given)
}

// decodeTyped reads a word as it was typed.
func decodeTyped(typed string, given map[string]json.RawMessage) (w schema.Word, err error) {
	var read func(string) ([]byte, error)
	if given["file"] != nil {
		text, err := textOf(given, "file")
		if err != nil {
			return w, err
		}
		content, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return w, fmt.Errorf(".file is not base64: %w", err)
		}
		read = func(string) ([]byte, error) { return content, nil }
	}
	words, err := schema.ParseWords([]string{typed}, read)
	if err != nil {
		return w, fmt.Errorf(".typed: %w", err)
	}
	return words[0], nil
}

// decodeParts makes a word of its value and what is beside it.
func decodeParts(source, value string, given map[string]json.RawMessage) (w schema.Word, err error) {
	w.Value = value
	if given["name"] != nil {
		if w.Name, err = textOf(given, "name"); err == nil && w.Name == "" {
			err = errors.New(".name is empty")
		}
		if err != nil {
			return w, err
		}
	}
	form := forms[schema.Plain]
	if source == "json" {
		form = forms[schema.JSON]
	}
	if given["form"] != nil {
		if form, err = textOf(given, "form"); err != nil {
			return w, err
		}
	}
	i := slices.Index(forms[:], form)
	switch w.Form = schema.Form(max(i, 0)); {
	case i < 0:
		return w, fmt.Errorf(".form is %q, want one of %s", schema.Short(form), strings.Join(forms[:], ", "))
	case source == "json" && w.Form != schema.JSON:
		return w, fmt.Errorf(`.form is %q, want json beside "json"`, form)
	case w.Form == schema.JSON:
		if offset, err := schema.CheckJSON([]byte(value)); err != nil {
			return w, fmt.Errorf(".%s is not JSON: byte %d: %w", source, offset+1, err)
		}
	}
	w.Typed = value
	if w.Name != "" || w.Form != schema.Plain {
		w.Typed = w.Name + marks[w.Form] + value
	}
	return w, nil
}

// members returns the members of a JSON object. Errors follow its place.
func members(value []byte) (found map[string]json.RawMessage, err error) {
	if value[0] != '{' {
		return nil, unwanted(value, "an object")
	}
	return found, json.Unmarshal(value, &found)
}

// keysOf lists keys of an object for a message.
func keysOf(object map[string]json.RawMessage) string {
	if len(object) == 0 {
		return "no key"
	}
	keys := slices.Sorted(maps.Keys(object))
	return fmt.Sprintf("%.80q", keys[:min(len(keys), 5)])
}

// textOf reads the text of a member. Errors follow the place of the object.
func textOf(object map[string]json.RawMessage, key string) (text string, err error) {
	value := object[key]
	if value[0] != '"' {
		return "", fmt.Errorf(".%s%w", key, unwanted(value, "text"))
	}
	if escape := loneSurrogate(value); escape != "" {
		return "", fmt.Errorf(".%s has the lone surrogate %s, which is not text", key, escape)
	}
	return text, json.Unmarshal(value, &text)
}

// loneSurrogate returns the first escape in a valid JSON string that is half a
// character, or "". Go would replace it.
func loneSurrogate(quoted []byte) string {
	rest := string(quoted)
	for {
		at := strings.IndexByte(rest, '\\')
		if at < 0 {
			return ""
		}
		rest = rest[at:]
		size := len(`\n`)
		if first := escaped(rest); first >= 0 {
			if size = len(`\u0000`); utf16.IsSurrogate(first) {
				if utf16.DecodeRune(first, escaped(rest[size:])) == '\uFFFD' {
					return rest[:size]
				}
				size *= 2
			}
		}
		rest = rest[size:]
	}
}

// escaped is the value of the \u escape that a part of a valid JSON string begins with,
// or -1.
func escaped(part string) rune {
	if !strings.HasPrefix(part, `\u`) {
		return -1
	}
	value, _ := strconv.ParseUint(part[2:6], 16, 16) // valid JSON has four digits
	return rune(value)
}

// unwanted says what a value is. It follows the place of the value.
func unwanted(value []byte, want string) error {
	return fmt.Errorf(" is %s, want %s", schema.Short(string(value)), want)
}
