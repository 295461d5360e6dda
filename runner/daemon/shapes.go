package daemon

import (
	"encoding/json"
	"fmt"
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
