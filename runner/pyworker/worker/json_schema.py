"""The JSON Schema (2020-12) of a hook's arguments, made of the converters that check them, and of its result.

Of an enum it has the values alone, though names are accepted, too.

Descriptions and defaults come from annotations, and the schemas of limits and of models from pydantic.
The schema of a result accepts what such a value becomes.
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
    """Adds the schema of the arguments, and that of an object as the result, to a hook's description."""
    info["input_schema"] = Maker().arguments(plan)
    returns = None if "streams" in info else Maker(is_result=True).result(plan)
    if returns:
        info["output_schema"] = returns


class Maker:
    """Makes one schema of those of converters. Classes with fields are definitions that it refers to."""

    def __init__(self, is_result=False):
        self.is_result = is_result  # a result may have more fields, and times without a zone
        self.defs = {}  # name → schema
        self.names = {}  # converter → the name of its definition

    def arguments(self, plan):
        """An object with a property for each parameter; *args is an array, **kwargs are other properties."""
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
        """The schema of what the annotation says that a function returns; None if that is no object."""
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
        found = {"type": "array", "prefixItems": schemas} if schemas else {"type": "array"}  # it must not be empty
        return {**found, "minItems": least, "maxItems": len(schemas)}

    def reference(self, take):
        """Returns a reference to the definition of a class with fields; {} for the result of a class with __json__."""
        if self.is_result and hasattr(take.kind, "__json__"):
            return {}
        if take not in self.names:
            name = self.names[take] = self.free(take.kind.__name__)
            self.defs[name] = {}  # for a class that refers to itself
            self.defs[name] = self.fields(take)
        return {"$ref": "#/$defs/" + self.names[take]}

    def free(self, name):
        """A name for a definition: the name of a class, with a number if another class has it."""
        found, count = name, 1
        while found in self.defs:
            count += 1
            found = "%s_%d" % (name, count)
        return found

    def fields(self, take):
        """The schema of a dataclass, a TypedDict or a named tuple, which may be an array."""
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
        if doc and not doc.startswith(take.kind.__name__ + "("):  # the one that dataclass and NamedTuple make
            schema["description"] = doc
        if not isinstance(take, shapes.Row):
            return schema
        least = max((index + 1 for index, name in enumerate(take.fields) if name in required), default=0)
        return {"anyOf": [schema, self.row(list(properties.values()), least)]}

    def model(self, take):
        """Returns the schema of a pydantic type. If our own converter comes first, its schema gets pydantic's limits."""
        try:
            adapter = getattr(take.validate, "__self__", None)
            make = getattr(adapter, "json_schema", None) or take.kind.model_json_schema
            how = {"mode": "serialization", "by_alias": False} if self.is_result else {}
            schema, defs = defined(make, how)
            if any(self.defs.get(name, one) != one for name, one in defs.items()):  # another class has the name
                schema, defs = defined(make, how, "%d." % len(self.defs))
        except Exception:  # no model of pydantic's, or one that it has no schema for
            return {} if take.inner is None else take.inner.schema(self)
        if take.inner is not None:
            own = take.inner.schema(self)
            if "anyOf" not in own and "$ref" not in own:
                return {**own, **{key: schema[key] for key in LIMITS if key in schema}}
        self.defs.update(defs)
        return schema


def defined(make, how, prefix=""):
    """Returns the schema that pydantic makes, and its definitions, whose names begin with a prefix."""
    schema = make(ref_template="#/$defs/" + prefix + "{model}", **how)
    return schema, {prefix + name: one for name, one in schema.pop("$defs", {}).items()}


def described(schema, default, note, names):
    """Returns a schema with the default, and with the description from the annotation or the default."""
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
    """Returns the metadata of an Annotated, also within Required, Final and the like."""
    try:
        text = getattr(note, "__forward_arg__", note)
        if isinstance(text, str):
            note = names.evaluated(text)
    except Exception:
        return ()
    found = getattr(note, "__metadata__", ())
    inner = getattr(note, "__args__", ()) if annotations.special(getattr(note, "__origin__", None)) in annotations.INNER else ()
    return found or (metadata(inner[0], names) if inner else ())
