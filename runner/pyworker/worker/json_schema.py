"""The JSON Schema (2020-12) of a hook's arguments, made of the converters that check them, and of its result.

Of an enum it has the values alone, though names are accepted, too.

Descriptions and defaults come from annotations, and the schemas of limits and of models from pydantic.
The schema of a result accepts what such a value becomes.
"""

import sys

import _pyplug_worker as core

describe, annotations, convert = core.part("describe"), core.part("annotations"), core.part("convert")
arguments, explain = core.part("arguments"), core.part("explain")
portable = core.part("portable").portable
EMPTY = describe.EMPTY
NUMBER, TEXT = {"type": "number"}, {"type": "string"}
PLAIN = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "None": "null"}
LIMITS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
    "minItems", "maxItems", "minProperties", "maxProperties",
)  # fmt: skip


def add(info, function):
    """Adds the schema of the arguments, and that of an object as the result, to a hook's description."""
    info["input_schema"] = Maker().arguments(function)
    returns = None if "streams" in info else Maker(is_result=True).result(function)
    if returns:
        info["output_schema"] = returns


class Maker:
    """Makes one schema. Classes with fields are definitions that it refers to."""

    def __init__(self, is_result=False):
        self.is_result = is_result  # a result may have more fields, and times without a zone
        self.defs = {}  # name → schema
        self.names = {}  # converter → the name of its definition

    def arguments(self, function):
        """An object with a property for each parameter; *args is an array, **kwargs are other properties."""
        try:
            plan = arguments.Plan(function)
        except Exception:  # a __signature__ that does something
            return {"type": "object", "properties": {}}
        names = describe.names_of(function)
        schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
        for one in plan.params:
            found = self.of(one.take)
            if one.kind == "names":
                schema["additionalProperties"] = found or True
            elif one.kind == "positions":
                schema["properties"][one.name] = {"type": "array", **items(found)}
            else:
                schema["properties"][one.name] = described(found, *one.raw, names)
            if one.required:
                schema["required"].append(one.name)
        if not schema["required"]:
            del schema["required"]
        return portable({**schema, "$defs": self.defs})

    def result(self, function):
        """The schema of what the annotation says that a function returns; None if that is no object."""
        try:
            note = describe.signature(function)[1]
            schema = {} if note is EMPTY else self.of(annotations.converter(note, describe.names_of(function)))
        except Exception:  # an annotation that cannot be evaluated
            return None
        found = self.defs[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
        if found.get("type") != "object":
            return None
        return portable({"type": "object", **schema, "$defs": self.defs}, is_result=True)

    def of(self, take):
        """The schema of what a converter accepts; {} for anything."""
        if isinstance(take, (convert.Text, convert.Int, convert.Float, convert.Bool, convert.Null)):
            return {"type": PLAIN[take.text]}
        if isinstance(take, convert.Bytes):
            return {**TEXT, "contentEncoding": "base64"}
        if isinstance(take, convert.Numeric):
            return {"anyOf": [self.text(take), NUMBER]}
        if isinstance(take, convert.Parsed):
            return self.text(take)
        if isinstance(take, convert.Union):
            return self.union(take.members)
        if isinstance(take, convert.Items):
            return {"type": "array", **items(self.of(take.item))}
        if isinstance(take, convert.Row):
            return self.row([self.of(one) for one in take.items], len(take.items))
        if isinstance(take, convert.Table):
            return self.table(take)
        if isinstance(take, convert.Container) and hasattr(take, "validate"):
            return self.model(take)
        if hasattr(take, "values"):
            return self.chosen(take)
        return self.reference(take) if hasattr(take, "fields") else {}

    def text(self, take):
        """The schema of text that is parsed: its format, if it has one."""
        return {**TEXT, "format": take.format} if take.format and not self.is_result else TEXT

    def union(self, members):
        found = []
        for schema in map(self.of, members):
            some = schema["anyOf"] if list(schema) == ["anyOf"] else [schema]
            found += [one for one in some if one not in found]
        return {} if {} in found else found[0] if len(found) == 1 else {"anyOf": found}

    def row(self, schemas, least):
        found = {"type": "array", "prefixItems": schemas} if schemas else {"type": "array"}  # it must not be empty
        return {**found, "minItems": least, "maxItems": len(schemas)}

    def table(self, take):
        schema = {"type": "object"}
        value = self.of(take.item)
        if value:
            schema["additionalProperties"] = value
        return schema

    def chosen(self, take):
        """The schema of the values of an enum or a Literal; in place of a value that JSON does not have, the member's name."""
        found, values = {}, []
        for name, one in take.names.items():
            found.setdefault(id(one), name)
        for value, one in take.values:
            if explain.is_plain(value) and value == value:
                values.append(value)
            elif self.is_result:
                return {}
            elif id(one) in found:
                values.append(found[id(one)])
        own, standard = getattr(getattr(take, "kind", None), "_missing_", None), getattr(sys.modules.get("enum"), "Enum", None)
        if own and getattr(own, "__func__", own) is not standard._missing_.__func__:  # it finds more, as a Flag does
            return {"anyOf": [{"enum": values}, {"type": "integer"}, TEXT]}
        return {"enum": values}

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
            found = self.union((one, annotations.NULL)) if self.is_result and default is None else self.of(one)
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
            return {} if take.inner is None else self.of(take.inner)
        if take.inner is not None:
            own = self.of(take.inner)
            if "anyOf" not in own and "$ref" not in own:
                return {**own, **{key: schema[key] for key in LIMITS if key in schema}}
        self.defs.update(defs)
        return schema


def defined(make, how, prefix=""):
    """Returns the schema that pydantic makes, and its definitions, whose names begin with a prefix."""
    schema = make(ref_template="#/$defs/" + prefix + "{model}", **how)
    return schema, {prefix + name: one for name, one in schema.pop("$defs", {}).items()}


def items(schema):
    return {"items": schema} if schema else {}


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
