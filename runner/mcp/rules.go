package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/pyplug/pyplug/runner/schema"
)

// Refusal is a part of a tool that a client rejects. Most clients then drop the tool. With Gemini's
// API, each request with the tool fails.
type Refusal struct {
	// Client names the clients, such as "VS Code".
	Client string
	// Problem says what they reject, and where.
	Problem string
	// Some reports whether other versions or models of the clients accept it.
	Some bool
}

// fitsClaude reports whether Claude's API accepts the name of a parameter: ^[a-zA-Z0-9_.-]{1,64}$.
func fitsClaude(name string) bool {
	return name != "" && len(name) <= 64 && schema.SafeName(name, "-.") == name
}

// Names of clients of which only some versions reject a part.
const olderGemini, withoutRefs = "Gemini's older API", "Copilot CLI and Gemini's older API"

// Refusals lists the parts of a tool's input schema that known clients reject.
func (t Tool) Refusals() []Refusal {
	var input map[string]any
	if json.Unmarshal(t.Input, &input) != nil {
		return nil
	}
	c := &clientRules{}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if input[key] != nil {
			c.refuse("Claude", "the arguments", key+" at the top")
		}
	}
	properties, _ := input["properties"].(map[string]any)
	if properties == nil {
		c.refuse("OpenAI", "the arguments", "an object without properties")
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !fitsClaude(name) {
			c.refuse("Claude", name, "a name with other characters than a-z, A-Z, 0-9, _, . and -, or with more than 64")
		}
		c.check(name, properties[name])
	}
	defs, _ := input["$defs"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		c.check(name, defs[name])
	}
	return c.found
}

// clientRules collects refusals.
type clientRules struct{ found []Refusal }

func (c *clientRules) refuse(client, place, what string) {
	r := Refusal{client, fmt.Sprintf("%s: %s", place, what), client == olderGemini || client == withoutRefs}
	isKnown := func(one Refusal) bool { return one == r || client == withoutRefs && one.Client == client }
	if !slices.ContainsFunc(c.found, isKnown) { // one refusal of references is enough
		c.found = append(c.found, r)
	}
}

// check checks the schema of a value. place is its path.
func (c *clientRules) check(place string, value any) {
	schema, ok := value.(map[string]any)
	if !ok { // the schema is true or false
		return
	}
	kind, isOne := schema["type"].(string)
	isAlternative := schema["anyOf"] != nil || schema["oneOf"] != nil || schema["allOf"] != nil
	switch {
	case schema["$ref"] != nil:
		c.refuse(withoutRefs, place, "a $ref")
	case schema["type"] != nil && !isOne:
		c.refuse("Gemini", place, "several types")
	case !isOne && schema["enum"] != nil:
		c.refuse("Gemini", place, "an enum without a type")
	case !isOne && !isAlternative:
		c.refuse("Gemini", place, "a value without a type")
	}
	if values, _ := schema["enum"].([]any); slices.ContainsFunc(values, func(v any) bool { _, isText := v.(string); return !isText }) {
		c.refuse(olderGemini, place, "an enum with other values than text")
	}
	for _, key := range []string{"const", "propertyNames"} {
		if schema[key] != nil {
			c.refuse("Gemini", place, key)
		}
	}
	if _, ok := schema["items"].(map[string]any); kind == "array" && !ok {
		c.refuse("Gemini, OpenAI and VS Code", place, "a list without items")
	}
	c.below(place, schema)
}

// below checks the schemas inside a schema.
func (c *clientRules) below(place string, schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		c.check(place+"."+name, properties[name])
	}
	if items := schema["items"]; items != nil {
		c.check(place+"[]", items)
	}
	if values := schema["additionalProperties"]; values != nil {
		c.check(place+".*", values)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		several, _ := schema[key].([]any)
		for _, one := range several {
			c.check(place, one)
		}
	}
}

// IsAnything reports whether a schema accepts any value: it has no type, or all of them.
func IsAnything(schema map[string]any) bool {
	for _, key := range []string{"type", "enum", "$ref", "oneOf", "allOf"} {
		if schema[key] != nil {
			return false
		}
	}
	several, _ := schema["anyOf"].([]any)
	types := map[any]bool{}
	for _, one := range several {
		if one, ok := one.(map[string]any); ok {
			types[one["type"]] = true
		}
	}
	const all = 6 // number of types in JSON; integer counts as number
	return several == nil || len(types) == all
}
