"""Makes the JSON Schema (2020-12) of a hook's arguments, from the converters that check them, and of its result.

The schema of an enum has only the values, although names are accepted, too. Descriptions and defaults come from
annotations. pydantic provides the schemas of limits and of models. The schema of a result describes its JSON.
"""

import _pyplug_worker as core

describe, annotations, explain = core.part("describe"), core.part("annotations"), core.part("explain")
portable = core.part("portable").portable
EMPTY = describe.EMPTY
LIMITS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
    "minItems", "maxItems", "minProperties", "maxProperties",
)  # fmt: skip


def add(info, plan):
    """Adds the schema of the arguments to a hook's description, and the schema of the result if that is an object."""
    info["input_schema"] = Maker().arguments(plan)
    returns = None if "streams" in info else Maker(is_result=True).result(plan)
    if returns:
        info["output_schema"] = returns


class Maker:
    """Makes one schema from the schemas of converters. Classes with fields become definitions, to which it refers."""

    def __init__(self, is_result=False):
        self.is_result = is_result  # the schema of a result allows more fields, and times without a zone
        self.defs = {}  # name → schema
        self.names = {}  # converter → the name of its definition

    def arguments(self, plan):
        """Returns the schema of an object with a property for each parameter.

        *args is a property with an array, and **kwargs are additional properties.
        """
        schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
        for one in plan.params:
            if one.kind == "names":
                schema["additionalProperties"] = one.take.schema(self) or True
            elif one.kind == "positions":
                schema["properties"][one.name] = {"type": "array", **self.items(one.take)}
            else:
                schema["properties"][one.name] = described(one.take.schema(self), one.default, one.note, plan.scope)
            if one.required:
                schema["required"].append(one.name)
        if not schema["required"]:
            del schema["required"]
        return portable({**schema, "$defs": self.defs})

    def result(self, plan):
        """Returns the schema for the annotation of a function's result, or None if the result is not an object."""
        try:
            schema = {} if plan.returns is EMPTY else annotations.converter(plan.returns, plan.scope).schema(self)
        except Exception:  # an annotation that cannot be evaluated
            return None
        found = self.defs[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
        if found.get("type") != "object":
            return None
        return portable({"type": "object", **schema, "$defs": self.defs}, is_result=True)

    def union(self, members):
        found = []
        for one in members:
            schema = one.schema(self)
            some = schema["anyOf"] if list(schema) == ["anyOf"] else [schema]
            found += [one for one in some if one not in found]
        return {} if {} in found else found[0] if len(found) == 1 else {"anyOf": found}

    def items(self, take):
        found = take.schema(self)
        return {"items": found} if found else {}

    def row(self, schemas, least):
        found = {"type": "array", "prefixItems": schemas} if schemas else {"type": "array"}  # prefixItems must not be empty
        return {**found, "minItems": least, "maxItems": len(schemas)}

    def reference(self, take):
        """Returns a reference to the definition of a class with fields, or {} for a result of a class with __json__."""
        if self.is_result and hasattr(take.kind, "__json__"):
            return {}
        if take not in self.names:
            name = self.names[take] = self.free(take.kind.__name__)
            self.defs[name] = {}  # because the class may refer to itself
            self.defs[name] = self.fields(take)
        return {"$ref": "#/$defs/" + self.names[take]}

    def free(self, name):
        """Returns a name for a definition: the name of a class, with a number if another class has the same name."""
        found, count = name, 1
        while found in self.defs:
            count += 1
            found = "%s_%d" % (name, count)
        return found

    def fields(self, take):
        """Returns the schema of a dataclass, a TypedDict or a named tuple, which may also be an array."""
        shapes = core.part("shapes")
        properties = {}
        for name, (one, _, note, default) in take.fields.items():
            found = self.union((one, annotations.NULL)) if self.is_result and default is None else one.schema(self)
            properties[name] = described(found, default, note, None)
        required = [name for name, (_, needed, note, _) in take.fields.items() if needed and not (self.is_result and type(note).__name__ == "InitVar")]
        schema = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        if not isinstance(take, shapes.Table) and not self.is_result:
            schema["additionalProperties"] = False
        doc = describe.cleaned(take.kind.__dict__.get("__doc__") or "")
        if doc and not doc.startswith(take.kind.__name__ + "("):  # dataclass and NamedTuple generate such a text
            schema["description"] = doc
        if not isinstance(take, shapes.Row):
            return schema
        least = max((index + 1 for index, name in enumerate(take.fields) if name in required), default=0)
        return {"anyOf": [schema, self.row(list(properties.values()), least)]}

    def model(self, take):
        """Returns the schema of a pydantic type. If the worker's own converter comes first, its schema gets pydantic's limits."""
        try:
            adapter = getattr(take.validate, "__self__", None)
            make = getattr(adapter, "json_schema", None) or take.kind.model_json_schema
            how = {"mode": "serialization", "by_alias": False} if self.is_result else {}
            schema, defs = defined(make, how)
            if any(self.defs.get(name, one) != one for name, one in defs.items()):  # another class has the name
                schema, defs = defined(make, how, "%d." % len(self.defs))
        except Exception:  # not a model of pydantic, or pydantic has no schema for it
            return {} if take.inner is None else take.inner.schema(self)
        if take.inner is not None:
            own = take.inner.schema(self)
            if "anyOf" not in own and "$ref" not in own:
                return {**own, **{key: schema[key] for key in LIMITS if key in schema}}
        self.defs.update(defs)
        return schema


def defined(make, how, prefix=""):
    """Returns pydantic's schema and its definitions, whose names begin with a prefix."""
    schema = make(ref_template="#/$defs/" + prefix + "{model}", **how)
    return schema, {prefix + name: one for name, one in schema.pop("$defs", {}).items()}


def described(schema, default, note, names):
    """Returns a schema with the default added, and the description from the annotation or the default."""
    schema, value = dict(schema), describe.given(default)
    for one in (*metadata(note, names), *([default] if value is not default else ())):
        text = one if type(one) is str else getattr(one, "description", None) or getattr(one, "documentation", None)
        if isinstance(text, str):
            schema["description"] = text
            break
    if value is not EMPTY:
        found = explain.as_json(value)
        if found is not None or value is None:
            schema["default"] = found
    return schema


def metadata(note, names):
    """Returns the metadata of an Annotated, which may be within Required, Final and the like."""
    try:
        text = getattr(note, "__forward_arg__", note)
        if isinstance(text, str):
            note = names.evaluated(text)
    except Exception:
        return ()
    found = getattr(note, "__metadata__", ())
    inner = getattr(note, "__args__", ()) if annotations.special(getattr(note, "__origin__", None)) in annotations.INNER else ()
    return found or (metadata(inner[0], names) if inner else ())
