"""Rewrites a JSON Schema so that the clients of language models accept it.

The new schema accepts the same values, except deeply nested lists of anything. VS Code rejects a list without items.
Gemini rejects a value without a type, a list of types, const and propertyNames. Several clients drop references, so
classes are inlined unless they contain themselves.
"""

MAX_SIZE = 5000  # the maximum number of objects in an inlined schema; in a larger one, references stay
REFERENCE = "#/$defs/"
ONE = ("items", "additionalProperties", "not", "contains", "unevaluatedItems", "unevaluatedProperties", "if", "then", "else")
LISTS = ("prefixItems", "anyOf", "oneOf", "allOf")
TABLES = ("properties", "patternProperties", "dependentSchemas")
NOTES = ("title", "description", "default")
TYPED = ("type", "$ref", "anyOf", "oneOf", "allOf", "not", "if")  # a schema with one of these keys limits the type
NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null", list: "array", dict: "object"}
FLAT = [{"type": one} for one in ("string", "number", "boolean", "object", "null")]


def lists(items):
    """Returns a schema for any value whose lists have these items."""
    return {"anyOf": [*FLAT, {"type": "array", "items": items}]}


ANYTHING = lists(lists({"anyOf": FLAT}))


def portable(schema, is_result=False):
    """Returns a schema without references, with a type for each enum and items for each list. Arguments always have a type."""
    return Rewriter(schema, is_result).all()


class Rewriter:
    def __init__(self, schema, is_result):
        self.schema, self.is_result = schema, is_result
        self.defs = schema.get("$defs", {})
        self.uses = {name: set(references(one)) for name, one in self.defs.items()}
        self.sizes, self.kept = {}, set()
        self.recursive = {name for name in self.defs if name in self.reached(name)}
        if self.size({**schema, "$defs": None}) > MAX_SIZE:
            self.recursive = set(self.defs)

    def reached(self, name):
        """Returns the definitions that a definition uses, directly or through others."""
        found, left = set(), [name]
        while left:
            new = self.uses.get(left.pop(), set()) - found
            found |= new
            left += new
        return found

    def size(self, value):
        """Returns the number of objects in a schema after its references are inlined."""
        if isinstance(value, list):
            return sum(map(self.size, value))
        if not isinstance(value, dict):
            return 0
        total, name = 1 + sum(map(self.size, value.values())), referred(value)
        if name in self.defs and name not in self.recursive:
            if name not in self.sizes:
                self.sizes[name] = self.size(self.defs[name])
            total += self.sizes[name]
        return total

    def all(self):
        schema = self.of({key: value for key, value in self.schema.items() if key != "$defs"})
        defs = {}
        while self.kept - set(defs):
            for name in [name for name in self.defs if name in self.kept and name not in defs]:
                defs[name] = self.of(self.defs[name])
        return {**schema, "$defs": defs} if defs else schema

    def of(self, schema):
        """Returns the rewritten form of a schema."""
        if not isinstance(schema, dict):
            return schema
        name = referred(schema)
        if name in self.defs and name not in self.recursive:
            return self.of({**self.defs[name], **{key: value for key, value in schema.items() if key != "$ref"}})
        if name is not None:
            self.kept.add(name)
        dropped = ("discriminator",) if self.is_result else ("discriminator", "propertyNames")  # a discriminator refers to definitions, which are inlined
        schema = {key: self.part(key, value) for key, value in schema.items() if key not in dropped}
        if "const" in schema:
            schema["enum"] = [schema.pop("const")]
        if "enum" in schema or isinstance(schema.get("type"), list):
            schema = typed(schema)
        if schema.get("type") == "array" and not isinstance(schema.get("items"), dict):
            schema["items"] = self.of(union([plain(one) for one in schema.get("prefixItems", ())]))
        return schema if self.is_result or any(key in schema for key in TYPED) else {**ANYTHING, **schema}

    def part(self, key, value):
        if key in ONE:
            return self.of(value)
        if key in LISTS:
            return [self.of(one) for one in value]
        return {name: self.of(one) for name, one in value.items()} if key in TABLES else value


def referred(schema):
    """Returns the name of the definition that a schema refers to, or None."""
    found = schema.get("$ref")
    return found[len(REFERENCE) :] if isinstance(found, str) and found.startswith(REFERENCE) else None


def references(value):
    """Yields the names of the definitions that a schema refers to."""
    if isinstance(value, dict) and referred(value) is not None:
        yield referred(value)
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from references(one)


def typed(schema):
    """Returns a schema with one type for its enum, or with alternatives of one type each."""
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return schema
    values, found = schema.get("enum"), {}
    for value in values if values is not None else ():
        kind = next((name for known, name in NAMES.items() if isinstance(value, known)), "string")
        found.setdefault(kind, []).append(value)
    if values is None:
        several = [{"type": kind} for kind in kinds]
    else:
        several = [enum(kind, some) for kind, some in found.items()]
    rest = {key: value for key, value in schema.items() if key not in ("type", "enum")}
    return {**several[0], **rest} if len(several) == 1 else {**rest, "anyOf": several}


def enum(kind, values):
    """Returns the schema of values of one type."""
    return {"type": kind} if kind == "null" or kind == "boolean" and len(values) > 1 else {"type": kind, "enum": values}


def plain(schema):
    """Returns a schema without its title, description and default."""
    return {key: value for key, value in schema.items() if key not in NOTES}


def union(schemas):
    """Returns the schema of the values that any of several schemas accepts, or {} for no schemas."""
    found = []
    for schema in schemas:
        found += [one for one in (schema["anyOf"] if list(schema) == ["anyOf"] else [schema]) if one not in found]
    return {} if not found else found[0] if len(found) == 1 else {"anyOf": found}
