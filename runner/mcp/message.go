package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// The codes of protocol errors.
const (
	parseError     = -32700
	invalidRequest = -32600
	noMethod       = -32601
	invalidParams  = -32602
	internalError  = -32603
	headerMismatch = -32020
	noVersion      = -32022
)

// The keys of _meta. A request with one of the first two is modern.
const (
	versionKey      = "io.modelcontextprotocol/protocolVersion"
	capabilitiesKey = "io.modelcontextprotocol/clientCapabilities"
	serverKey       = "io.modelcontextprotocol/serverInfo"
	subscriptionKey = "io.modelcontextprotocol/subscriptionId"
)

// modern is the version without sessions. legacy lists the versions with initialize, newest first.
const modern = "2026-07-28"

var legacy = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// largestLine is the size of the largest message in bytes. A longer line is skipped.
const largestLine = 64 << 20

const noBatch = "the message is a batch, expected one request: this version of the protocol has no batches"

// protocolError is the error of a malformed or unknown request.
type protocolError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *protocolError) Error() string { return e.Message }

func fault(code int, format string, args ...any) *protocolError {
	return &protocolError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// read decodes an object of a client by its exact keys. code is the code of its error. The
// parameter what is the name of the object in messages, and want describes a valid object.
func read(object []byte, to any, code int, what, want string) *protocolError {
	err := schema.Decode(object, to)
	if twice := schema.Twice(err); twice != nil {
		return fault(code, "%v", twice)
	}
	if err != nil || object[0] != '{' {
		return fault(code, "%s is %s, expected %s", what, schema.Short(string(object)), want)
	}
	return nil
}

// message is one JSON-RPC message of a client.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  json.RawMessage `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`

	method   string
	tool     *string // the name in its params, or nil
	version  string  // the version in its _meta
	meta     map[string]json.RawMessage
	isModern bool // whether it is a request of the modern version
}

// parse reads a message. If its id cannot be read, the message has none.
func parse(text []byte) (m message, err *protocolError) {
	err = read(text, &m, invalidRequest, "the message", "a JSON-RPC request")
	if id := m.ID; id != nil && id[0] != '"' && !isInteger(id) {
		m.ID = nil
		return m, fault(invalidRequest, "id is %s, expected a text or an integer", schema.Short(string(id)))
	}
	if err != nil {
		return m, err
	}
	if m.JSONRPC != "2.0" {
		return m, fault(invalidRequest, `jsonrpc is %q, expected "2.0"`, schema.Short(m.JSONRPC))
	}
	if m.isAnswer() {
		return m, nil
	}
	if json.Unmarshal(m.Method, &m.method) != nil || m.method == "" {
		return m, fault(invalidRequest, "method is missing, expected a text")
	}
	var params struct {
		Name json.RawMessage            `json:"name"`
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if m.Params != nil {
		err = read(m.Params, &params, invalidParams, "params", "an object, with an object as its _meta")
	}
	if err != nil {
		return m, err
	}
	_ = json.Unmarshal(params.Name, &m.tool) // call reports a missing name
	m.meta = params.Meta
	return m, m.setModern()
}

// isAnswer reports whether the message answers a request. A server of tools never sends requests.
func (m message) isAnswer() bool { return m.Method == nil && (m.Result != nil || m.Error != nil) }

func isInteger(value []byte) bool {
	var n json.Number
	return json.Unmarshal(value, &n) == nil && value[0] != '"' && string(value) != "null" && !bytes.ContainsAny(value, ".eE")
}

// setModern sets whether a request is modern, according to its _meta, and checks the _meta.
func (m *message) setModern() *protocolError {
	version, capabilities := m.meta[versionKey], m.meta[capabilitiesKey]
	m.isModern = version != nil || capabilities != nil
	switch {
	case !m.isModern:
	case version == nil:
		return missingMeta(versionKey)
	case json.Unmarshal(version, &m.version) != nil:
		return fault(invalidParams, "_meta %q is %s, expected a text", versionKey, schema.Short(string(version)))
	case m.version != modern:
		return unsupported(m.version, modern)
	case capabilities == nil:
		return missingMeta(capabilitiesKey)
	case capabilities[0] != '{':
		return fault(invalidParams, "_meta %q is %s, expected an object", capabilitiesKey, schema.Short(string(capabilities)))
	}
	return nil
}

// isKnown returns an error if the version of a request does not have its method.
func (m message) isKnown() *protocolError {
	switch m.method {
	case "tools/list", "tools/call":
		return nil
	case "initialize", "ping":
		if m.isModern {
			return fault(noMethod, "no method %q in version %s", m.method, modern)
		}
		return nil
	case "server/discover", "subscriptions/listen":
		if !m.isModern {
			return missingMeta(versionKey)
		}
		return nil
	}
	return fault(noMethod, "no method %q", schema.Short(m.method))
}

// waits reports whether the answer to a request may take long.
func (m message) waits() bool {
	return m.method == "tools/list" || m.method == "tools/call" || m.method == "subscriptions/listen"
}

// unsupported returns the error for a version that is not supported.
func unsupported(version string, supported ...string) *protocolError {
	err := fault(noVersion, "Unsupported protocol version")
	err.Data = map[string]any{"supported": supported, "requested": version}
	return err
}

func missingMeta(key string) *protocolError {
	return fault(invalidParams, "_meta has no %q; without a version per request, call initialize first", key)
}

// progressToken returns the token for progress of a request, or nil.
func (m message) progressToken() json.RawMessage {
	token := m.meta["progressToken"]
	if token == nil || token[0] != '"' && !isInteger(token) {
		return nil
	}
	return token
}

// notification is a notification of the server.
func notification(name string, params []byte) []byte {
	return object("jsonrpc", "2.0", "method", "notifications/"+name, "params", params)
}

// failure returns the answer to a request that failed. id may be nil.
func failure(id json.RawMessage, err *protocolError) []byte {
	text, _ := hook.Marshal(err) // this type can always be encoded
	if id == nil {
		return object("jsonrpc", "2.0", "error", text)
	}
	return object("jsonrpc", "2.0", "id", id, "error", text)
}

// object returns a JSON object with the alternating names and values of pairs. A []byte or
// json.RawMessage must be JSON.
func object(pairs ...any) []byte {
	text := []byte{'{'}
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(schema.AppendQuote(text, pairs[i].(string)), ':')
		switch value := pairs[i+1].(type) {
		case json.RawMessage:
			text = append(text, value...)
		case []byte:
			text = append(text, value...)
		case string:
			text = schema.AppendQuote(text, value)
		default: // a number or a bool
			text = fmt.Append(text, value)
		}
	}
	return append(text, '}')
}
