package openapi

import "encoding/json"

// The schemas of hooks whose arguments or results are unknown.
var (
	anything  = json.RawMessage(`{}`)
	anyObject = json.RawMessage(`{"type":"object"}`)
)

// timeoutParameter describes ?timeout. Its pattern stays below the longest duration.
const timeoutParameter = `{
	"name": "timeout", "in": "query",
	"description": "The timeout of the call, such as 30s, 2m or a number of seconds. 0 means no timeout, if the server has none.",
	"schema": {"type": "string", "pattern": "^([0-9]{1,5}(\\.[0-9]{1,3})?|([0-9]{1,5}(\\.[0-9]{1,3})?(ms|s|m|h)){1,3})?$"}
}`

// ownSchemas are the schemas in every document. docs/json.md and docs/http.md describe the same
// objects. Objects may get more members.
const ownSchemas = `{
	"Failure": {
		"description": "The body of every answer that is an error.",
		"type": "object", "required": ["schema", "error"],
		"properties": {"schema": {"type": "integer"}, "error": {"$ref": "#/components/schemas/Error"}}
	},
	"Error": {
		"type": "object", "required": ["kind", "message", "sent"],
		"properties": {
			"kind": {"type": "string", "description": "hook, request, start, unhealthy, crash, unavailable, timeout, canceled or another class of errors."},
			"reason": {"type": "string", "description": "A stable word that is more specific than the kind."},
			"message": {"type": "string"},
			"hint": {"type": "string", "description": "How to fix it, one suggestion per line."},
			"hook": {"type": "string", "description": "The hook that was called."},
			"sent": {"type": "boolean", "description": "The call may have begun: do not repeat it blindly."},
			"plugin": {"type": "string", "description": "The plugin and its Python."},
			"place": {"type": "string", "description": "The path of the wrong value in an argument or a result."},
			"unknown": {"type": "string", "description": "The name of an argument that the hook does not have."},
			"word": {"type": "integer", "description": "The number, from 1, of the word that is wrong."},
			"drawing": {"type": "array", "items": {"type": "string"}, "description": "Lines that show the place."},
			"tried": {"type": "array", "items": {"type": "string"}, "description": "What was tried before."},
			"python": {"$ref": "#/components/schemas/Exception"},
			"at": {"type": "array", "items": {"$ref": "#/components/schemas/Frame"}, "description": "Where the plugin was when the call ended."},
			"exit": {"$ref": "#/components/schemas/Exit"},
			"status": {"type": "string", "description": "The name of a gRPC status."},
			"status_message": {"type": "string"},
			"details": {"type": "array", "items": {}, "description": "The messages of a gRPC status."}
		}
	},
	"Exception": {
		"description": "The exception that the hook raised.",
		"type": "object", "required": ["type", "message"],
		"properties": {
			"type": {"type": "string"},
			"message": {"type": "string"},
			"frames": {"type": "array", "items": {"$ref": "#/components/schemas/Frame"}},
			"cause": {"$ref": "#/components/schemas/Exception"},
			"group": {"type": "array", "items": {"$ref": "#/components/schemas/Exception"}}
		}
	},
	"Frame": {
		"type": "object", "required": ["file", "line"],
		"properties": {
			"file": {"type": "string"},
			"line": {"type": "integer"},
			"function": {"type": "string"},
			"text": {"type": "string"},
			"column": {"type": "integer"},
			"repeated": {"type": "integer", "description": "How many more times the frame repeats, or the last cycle frames."},
			"cycle": {"type": "integer"}
		}
	},
	"Exit": {
		"description": "How the process of the plugin ended.",
		"type": "object", "required": ["after_ms"],
		"properties": {
			"code": {"type": "integer"},
			"signal": {"type": "string"},
			"after_ms": {"type": "number"},
			"out_of_memory": {"type": "boolean"},
			"limit": {"type": "string", "description": "The limit that it exceeded."},
			"stderr": {"type": "array", "items": {"type": "string"}},
			"stacks": {"type": "array", "items": {"type": "string"}}
		}
	},
	"Line": {
		"description": "A line of a streamed result. The last one has done or error; without it, the connection was lost.",
		"type": "object",
		"properties": {
			"item": {"description": "An item of the result."},
			"binary": {"type": "boolean", "description": "The item is bytes, in base64."},
			"sole": {"type": "string", "description": "The only field of the item, if it is text or bytes."},
			"done": {"type": "boolean"},
			"notes": {"type": "array", "items": {"type": "string"}},
			"error": {"$ref": "#/components/schemas/Error"}
		}
	},
	"Hooks": {
		"type": "object", "required": ["hooks"],
		"properties": {
			"hooks": {"type": "array", "items": {
				"type": "object", "required": ["name", "params"],
				"properties": {
					"name": {"type": "string"},
					"doc": {"type": "string"},
					"async": {"type": "boolean"},
					"streams": {"type": "string", "description": "in, out or both."},
					"params": {"type": "array", "items": {"type": "object"}},
					"returns": {"type": "string"}
				}
			}},
			"notes": {"type": "array", "items": {"type": "string"}}
		}
	},
	"Health": {
		"type": "object", "required": ["schema"],
		"properties": {
			"schema": {"type": "integer"},
			"healthy": {"type": "boolean"},
			"state": {"type": "string"},
			"error": {"$ref": "#/components/schemas/Error"}
		}
	}
}`
