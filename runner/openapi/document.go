package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Options are the parts of the document that do not come from hooks.
type Options struct {
	// Title is the plugin's name. Version is the version of its API, or "1" if unknown.
	Title, Version string
	// Token reports whether requests need a bearer token.
	Token bool
	// Statuses maps the HTTP statuses of errors to their descriptions.
	Statuses map[int]string
}

// The media types of the protocol.
const (
	jsonType   = "application/json"
	streamType = "application/x-ndjson"
	bytesType  = "application/octet-stream"
)

// operation is an operation of the API. Its fields have the order of the document.
type operation struct {
	ID          string                 `json:"operationId"`
	Tags        []string               `json:"tags"`
	Summary     string                 `json:"summary,omitempty"`
	Description string                 `json:"description,omitempty"`
	Parameters  []reference            `json:"parameters,omitempty"`
	Security    *[]map[string][]string `json:"security,omitempty"`
	Body        *body                  `json:"requestBody,omitempty"`
	Responses   map[string]any         `json:"responses"`
}

type body struct {
	Required bool    `json:"required"` // a request without a body has no Content-Type, so a server over TCP rejects it
	Content  content `json:"content"`
}

type response struct {
	Description string  `json:"description"`
	Content     content `json:"content"`
}

// content maps media types to schemas.
type content map[string]media

type media struct {
	Schema any `json:"schema"`
}

// linesOf returns the schema of a body that consists of lines. OpenAPI 3.1 describes only whole
// bodies.
func linesOf(schema string) map[string]string {
	return map[string]string{"type": "string", "description": "Lines of JSON, each with the schema " + schema + "."}
}

type reference struct {
	Ref string `json:"$ref"`
}

// Document returns an OpenAPI 3.1 document. It has a path for each hook, in the order of hooks, and
// paths for the requests that describe and watch the plugin. Equal arguments give the same bytes.
// The hooks should have their Input. A hook without Input accepts any named arguments.
func Document(o Options, hooks []schema.Hook) []byte {
	d := document{Options: o, components: newComponents(), ids: names{}}
	for _, h := range hooks {
		if isIdentifier(h.Name) {
			d.ids[h.Name] = true // reserve it for this hook, because an earlier hook might get the same identifier
		}
	}
	var paths object
	for _, h := range hooks {
		paths = append(paths, member{"/hooks/" + url.PathEscape(h.Name), map[string]operation{"post": d.hook(h)}})
	}
	for _, r := range requests {
		paths = append(paths, member{r.path, map[string]operation{"get": d.request(r)}})
	}
	whole := object{
		{"openapi", "3.1.0"},
		{"info", object{{"title", o.Title}, {"version", o.Version}}},
	}
	parts := object{
		{"schemas", d.components.list},
		{"parameters", map[string]json.RawMessage{"timeout": json.RawMessage(timeoutParameter)}},
		{"responses", d.failures()},
	}
	if o.Token {
		whole = append(whole, member{"security", []map[string][]string{{"token": {}}}})
		parts = append(parts, member{"securitySchemes", map[string]map[string]string{"token": {"type": "http", "scheme": "bearer"}}})
	}
	text, err := hook.Marshal(append(whole, member{"paths", paths}, member{"components", parts}))
	if err != nil {
		panic("a schema is not JSON: " + err.Error())
	}
	return text
}

// document is a document in progress.
type document struct {
	Options
	components *components
	ids        names // operationIds
}

// isIdentifier reports whether every language can use the name for a function.
func isIdentifier(name string) bool {
	return name != "" && (name[0] < '0' || name[0] > '9') && name == schema.SafeName(name, "")
}

// id returns the operationId of a hook.
func (d *document) id(hookName string) string {
	if isIdentifier(hookName) {
		return hookName
	}
	id := schema.SafeName(hookName, "")
	if !isIdentifier(id) {
		id = "_" + id
	}
	return d.ids.free(id)
}

// hook describes the call of a hook.
func (d *document) hook(h schema.Hook) operation {
	op := operation{
		ID: d.id(h.Name), Tags: []string{"hooks"}, Summary: h.Doc, Parameters: []reference{{"#/components/parameters/timeout"}},
		Body: &body{Required: true, Content: content{}}, Responses: d.responses(),
	}
	if h.Documentation != h.Doc {
		op.Description = h.Documentation
	}
	input := d.components.schema(h.Input, anyObject)
	if h.Streams == "in" || h.Streams == "both" {
		message := d.components.add(op.ID+"_message", input)
		op.Body.Content[streamType] = media{linesOf("#/components/schemas/" + message)}
	} else {
		op.Body.Content[jsonType] = media{input}
	}
	op.Responses["200"] = response{"the result", d.result(h)}
	return op
}

// results maps an annotation to the schema of the result. It has no classes, because their objects
// may become bytes or streams.
var results = map[string]string{
	"None": `{"type":"null"}`, "bool": `{"type":"boolean"}`, "int": `{"type":"integer"}`, "float": `{"type":"number"}`, "str": `{"type":"string"}`,
}

// result describes the response to a successful call.
func (d *document) result(h schema.Hook) content {
	bytes := media{map[string]string{"type": "string", "format": "binary"}}
	known, isMethod := results[h.Returns], strings.Contains(h.Name, "/")
	switch {
	case h.Streams == "out" || h.Streams == "both":
		return content{streamType: media{linesOf("#/components/schemas/Line")}}
	case h.Output != nil:
		return content{jsonType: media{d.components.schema(h.Output, anything)}}
	case known != "" && !isMethod:
		return content{jsonType: media{json.RawMessage(known)}}
	case h.Returns == "bytes" && !isMethod:
		return content{bytesType: bytes}
	case isMethod:
		return content{jsonType: media{anything}}
	}
	return content{jsonType: media{anything}, bytesType: bytes, streamType: media{linesOf("#/components/schemas/Line")}}
}

// responses returns the error responses of an operation.
func (d *document) responses(except ...int) map[string]any {
	found := map[string]any{}
	for status := range d.Statuses {
		if !slices.Contains(except, status) {
			found[strconv.Itoa(status)] = reference{fmt.Sprintf("#/components/responses/%d", status)}
		}
	}
	return found
}

// failures maps statuses to error responses.
func (d *document) failures() map[string]response {
	found := map[string]response{}
	for status, description := range d.Statuses {
		found[strconv.Itoa(status)] = response{description, content{jsonType: media{reference{"#/components/schemas/Failure"}}}}
	}
	return found
}

// request is a request that does not concern a single hook.
type request struct {
	path, id, summary string
	mediaType         string
	schema            string // the schema of the response
	open              bool   // needs no token
}

var requests = []request{
	{"/hooks", "pyplug_hooks", "List the hooks.", jsonType, `{"$ref":"#/components/schemas/Hooks"}`, false},
	{"/health", "pyplug_health", "Report whether calls are accepted: 200 or 503.", jsonType, `{"$ref":"#/components/schemas/Health"}`, true},
	{"/livez", "pyplug_livez", "Report that the server is alive, whatever the plugin does.", jsonType, `{"type":"object"}`, true},
	{"/metrics", "pyplug_metrics", "Return metrics in the text format of Prometheus.", "text/plain", `{"type":"string"}`, false},
	{"/openapi.json", "pyplug_openapi", "Return this document.", jsonType, `{"type":"object"}`, false},
}

// request describes a request that does not concern a single hook.
func (d *document) request(r request) operation {
	op := operation{ID: d.ids.free(r.id), Tags: []string{"pyplug"}, Summary: r.summary}
	op.Responses = d.responses(http.StatusUnprocessableEntity) // 422 is only for calls of a hook
	if r.open && d.Token {
		op.Security = &[]map[string][]string{}
		delete(op.Responses, strconv.Itoa(http.StatusUnauthorized))
	}
	answer := content{r.mediaType: media{json.RawMessage(r.schema)}}
	op.Responses["200"] = response{"the answer", answer}
	if r.path == "/health" {
		op.Responses["503"] = response{"calls are not accepted now", answer}
	}
	return op
}
