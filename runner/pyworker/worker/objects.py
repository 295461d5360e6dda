"""The functions behind objects that decorators make: commands of click, tools of LangChain and others.

Loaded with the first hook that is such an object.
"""

import sys

import _pyplug_worker as core

INNER = ("func", "coroutine", "fn", "function")  # attributes that have the function of an object that cannot be called
TYPES = {"integer": int, "integer range": int, "float": float, "float range": float, "boolean": bool, "text": str, "uuid": str}

known = {}  # id → (the object, what to call for it)


def function(value):
    """Returns what a person calls by the name of an object."""
    found = known.get(id(value))
    if found is None or found[0] is not value:
        found = known[id(value)] = value, look(value)
    return found[1]


def look(value):
    if all(hasattr(type(value), name) for name in ("make_context", "make_parser")) and callable(value.callback):
        return command(value)
    if not callable(value):
        for name in INNER:
            inner = getattr(value, name, None)
            if type(inner) is core.FUNCTION:
                return inner
    return value


def command(value):
    """Returns a function with the parameters of click's command: calling the command itself reads sys.argv."""
    from inspect import Parameter, Signature
    from typing import Literal

    click = sys.modules["click"]
    shown = [one for one in value.params if one.expose_value]

    def call(*args, **given):
        given.update(zip(call.__signature__.parameters, args))
        with click.Context(value) as context:
            for one in shown:
                if one.name in given:
                    given[one.name] = one.type_cast_value(context, given[one.name])
            try:
                return context.invoke(value, **given)
            except click.exceptions.Exit as error:
                sys.exit(error.exit_code)

    def parameter(one, context):
        kind = TYPES.get(one.type.name, Parameter.empty)
        if one.nargs != 1 or getattr(one, "multiple", False):
            kind = list
        elif all(isinstance(choice, str) for choice in getattr(one.type, "choices", (1,))):
            kind = Literal[tuple(one.type.choices)]
        default = Parameter.empty if one.required else one.get_default(context)
        if type(default).__name__ == "Sentinel":
            default = None
        place = Parameter.POSITIONAL_OR_KEYWORD if one.param_type_name == "argument" else Parameter.KEYWORD_ONLY
        return Parameter(one.name, place, default=default, annotation=kind)

    found = [parameter(one, click.Context(value)) for one in shown]
    found.sort(key=lambda one: (one.kind, one.default is not Parameter.empty))
    call.__signature__ = Signature(found)
    call.__doc__ = value.help
    return call
