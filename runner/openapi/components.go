package openapi

import (
	"bytes"
	"encoding/json"
	"math"
	"net/url"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON returns the object.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, m := range o {
		value, err := hook.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.WriteByte("{,"[min(i, 1)])
		b.Write(schema.Quote(m.key))
		b.WriteByte(':')
		b.Write(value)
	}
	if len(o) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// names is a set of used names.
type names map[string]bool

// free returns an unused name and adds it to the set. If name is used, it appends a number.
func (n names) free(name string) string {
	found := schema.FreeName(name, math.MaxInt, n)
	n[found] = true
	return found
}

// components are the schemas that have a name.
type components struct {
	list  object
	names names
	moved map[string]links // the links for each text of $defs
}

// links maps names in $defs to the names of their components.
type links map[string]string

// newComponents returns the components that every document has.
func newComponents() *components {
	c := &components{names: names{}, moved: map[string]links{}}
	for quoted, value := range schema.Members([]byte(ownSchemas)) {
		c.add(string(schema.Unquote(quoted)), json.RawMessage(value))
	}
	return c
}

// add adds a component, and returns its name. A nil value is set later.
func (c *components) add(name string, value json.RawMessage) string {
	name = c.names.free(schema.SafeName(name, "-."))
	c.list = append(c.list, member{name, value})
	return name
}

// schema returns a JSON Schema as a part of the document, or the fallback if there is none. Schemas
// with the same $defs share components.
func (c *components) schema(text, fallback json.RawMessage) json.RawMessage {
	text = schema.Trim(text)
	if len(text) == 0 {
		return fallback
	}
	defs := []byte("{}")
	if text[0] == '{' {
		for quoted, value := range schema.Members(text) {
			if string(quoted) == `"$defs"` && value[0] == '{' {
				defs = value
			}
		}
	}
	to, known := c.moved[string(defs)]
	if !known {
		to = links{}
		c.moved[string(defs)] = to
		first := len(c.list)
		for quoted := range schema.Members(defs) {
			name := string(schema.Unquote(quoted))
			to[name] = c.add(name, nil)
		}
		for _, value := range schema.Members(defs) { // each definition has a name now
			c.list[first].value = to.schema(value)
			first++
		}
	}
	return to.schema(text)
}

// The kinds of keys in a JSON Schema, by their values. Values of other keys contain no schemas.
const (
	within  = iota + 1 // a schema, or an array of schemas
	table              // an object whose values are schemas
	link               // a reference to a schema
	dropped            // removed, because it would change the meaning of references
)

var keys = map[string]int{
	"additionalProperties": within, "allOf": within, "anyOf": within, "contains": within, "contentSchema": within, "else": within,
	"if": within, "items": within, "not": within, "oneOf": within, "prefixItems": within, "propertyNames": within, "then": within,
	"unevaluatedItems": within, "unevaluatedProperties": within,
	"dependentSchemas": table, "patternProperties": table, "properties": table,
	"$ref":  link,
	"$defs": dropped, "$id": dropped, "$schema": dropped, "$anchor": dropped, "$dynamicAnchor": dropped, "$dynamicRef": dropped,
	"discriminator": dropped,
}

// schema returns a schema whose references lead to components. It removes all other references,
// because a reference that tools cannot follow would make the whole document useless.
func (l links) schema(text []byte) json.RawMessage {
	if text[0] != '{' {
		return text // true or false
	}
	found := object{}
	for quoted, value := range schema.Members(text) {
		key, changed := string(schema.Unquote(quoted)), any(json.RawMessage(value))
		switch keys[key] {
		case within:
			changed = l.within(value)
		case table:
			if value[0] == '{' {
				changed = l.table(value)
			}
		case link:
			name, ok := l.target(value)
			if !ok {
				continue
			}
			changed = "#/components/schemas/" + name
		case dropped:
			continue
		}
		found = append(found, member{key, changed})
	}
	whole, _ := hook.Marshal(found) // its parts were JSON before
	return whole
}

// within returns a schema, or an array of schemas.
func (l links) within(text json.RawMessage) any {
	var list []json.RawMessage
	if text[0] != '[' || schema.Decode(text, &list) != nil {
		return l.schema(text)
	}
	for i, one := range list {
		list[i] = l.schema(one)
	}
	return list
}

// table converts the schemas that are the values of an object.
func (l links) table(text []byte) object {
	found := object{}
	for quoted, value := range schema.Members(text) {
		found = append(found, member{string(schema.Unquote(quoted)), l.schema(value)})
	}
	return found
}

// target returns the name of the component that a $ref refers to.
func (l links) target(text []byte) (name string, ok bool) {
	var ref string
	if schema.Decode(text, &ref) != nil {
		return "", false
	}
	if pointer, err := url.PathUnescape(ref); err == nil {
		ref = pointer
	}
	name, ok = strings.CutPrefix(ref, "#/$defs/")
	name, known := l[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	return name, ok && known
}
