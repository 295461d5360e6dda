package daemon

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/pyplug/pyplug/runner/hook"
)

// The headers of the protocol.
const (
	apiHeader   = "Pyplug-Api"   // the protocol's version
	soleHeader  = "Pyplug-Sole"  // the field of a message that --raw prints, see [hook.Item]
	notesHeader = "Pyplug-Notes" // a JSON array of texts, in ASCII
)

// The media types of the protocol.
const (
	jsonType   = "application/json"
	streamType = "application/x-ndjson"
	bytesType  = "application/octet-stream"
	wordsType  = "application/vnd.pyplug.words+json" // of arguments
)

// errorBody is the body of an error's answer, as `--json` prints it.
type errorBody struct {
	Schema int         `json:"schema"`
	Error  *hook.Error `json:"error"`
}

// healthBody is the answer to a probe, and a line of a watched health.
type healthBody struct {
	Schema  int         `json:"schema"`
	Healthy bool        `json:"healthy"`
	Error   *hook.Error `json:"error,omitempty"`
}

// statusBody is the answer to GET /status.
type statusBody struct {
	Schema   int         `json:"schema"`
	Identity Identity    `json:"identity"`
	Status   hook.Status `json:"status"`
	Notes    []string    `json:"notes,omitempty"`
}

// streamLine is a line of a streamed result.
type streamLine struct {
	Item   json.RawMessage `json:"item,omitempty"`
	Binary bool            `json:"binary,omitempty"`
	Sole   string          `json:"sole,omitempty"`
	Done   bool            `json:"done,omitempty"`
	Notes  []string        `json:"notes,omitempty"`
	Error  *hook.Error     `json:"error,omitempty"`
}

// itemLine is the line of an item.
func itemLine(item hook.Item) []byte {
	line, err := hook.Marshal(streamLine{Item: item.Value, Binary: item.Binary, Sole: item.Sole})
	if err != nil { // with --nan literal an item may be, or hold, NaN, which is not JSON
		line = slices.Concat([]byte(itemPrefix), item.Value, []byte(itemSuffix))
	}
	return append(line, '\n')
}

// What is around an item that is not JSON.
const itemPrefix, itemSuffix = `{"item":`, "}"

// readStreamLine reads one line of a streamed result.
func readStreamLine(from *bufio.Reader) (line streamLine, err error) {
	text, err := from.ReadBytes('\n')
	if err != nil { // without its end it may be only a part of a line
		return line, err
	}
	if err = json.Unmarshal(text, &line); err == nil {
		return line, nil
	}
	value, ok := bytes.CutPrefix(bytes.TrimSpace(text), []byte(itemPrefix))
	value, ended := bytes.CutSuffix(value, []byte(itemSuffix))
	if ok && ended {
		return streamLine{Item: value}, nil
	}
	return line, err
}

// ascii is a JSON array of texts that a header can carry.
func ascii(texts []string) string {
	line, _ := json.Marshal(texts)
	var b strings.Builder
	for _, c := range utf16.Encode([]rune(string(line))) {
		if c < 0x80 {
			b.WriteByte(byte(c))
		} else {
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}
