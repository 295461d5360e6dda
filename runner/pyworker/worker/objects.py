"""The functions behind objects that decorators make: commands of click, tools of LangChain and others."""

import sys

import _pyplug_worker as core

INNER = ("func", "coroutine", "fn", "function")  # attributes with the function of an object that is not callable itself
TYPES = {"integer": int, "integer range": int, "float": float, "float range": float, "boolean": bool}  # others take text

known = {}  # id → (the object, what to call for it)


def function(value):
    """Returns the function to call when the name of an object is called."""
    found = known.get(id(value))
    if found is None or found[0] is not value:
        found = known[id(value)] = value, look(value)
    return found[1]


def look(value):
    if all(hasattr(type(value), name) for name in ("make_context", "make_parser")) and callable(value.callback):
        return value if is_group(value) else command(value)
    if not callable(value):
        for name in INNER:
            inner = getattr(value, name, None)
            if type(inner) is core.FUNCTION:
                return inner
    return value


def is_group(value):
    """Reports whether an object of click is a group: a person calls its commands rather than the group."""
    return hasattr(type(value), "list_commands") and not value.invoke_without_command


def command(value):
    """Returns a function with the parameters of click's command: calling the command itself reads sys.argv."""
    from inspect import Parameter, Signature
    from typing import Literal

    click = sys.modules[next(kind.__module__ for kind in type(value).__mro__ if "make_parser" in kind.__dict__)]  # or typer's copy
    arguments, refused = core.part("arguments"), core.part("convert").Refused
    shown = [one for one in value.params if one.expose_value or asks(one)]
    positions = [one for one in shown if one.param_type_name == "argument"]
    rest = positions.pop() if positions and positions[-1].nargs == -1 else None

    def context():
        return click.Context(value, info_name=value.name, **value.context_settings)

    def call(*args, **given):
        given.update(zip([one.name for one in positions], args))
        if len(args) > len(positions):
            given[rest.name] = args[len(positions) :]
        with context() as found:
            try:
                for one in sorted(value.params, key=lambda one: not one.is_eager):
                    try:
                        one.handle_parse_result(found, given, [])
                    except click.UsageError as error:
                        problem = {} if one.name in given else {"problem": "has no value that fits"}
                        error = refused(given.get(one.name), "", getattr(error, "message", "") or error.format_message(), **problem)
                        raise arguments.misfit(one.name, error) from None
                found.params.update({name: None for name, one in found.params.items() if is_unset(one)})
                return value.invoke(found)
            except click.Exit as error:
                sys.exit(error.exit_code)

    def parameter(one, found):
        kind = TYPES.get(getattr(one.type, "name", ""), str) if hasattr(one, "type") else Parameter.empty
        choices = getattr(getattr(one, "type", None), "choices", (1,))
        if all(isinstance(choice, str) for choice in choices):
            kind = Literal[tuple(choices)]
        if one is rest:
            return Parameter(one.name, Parameter.VAR_POSITIONAL, annotation=kind)
        if one.nargs != 1 or getattr(one, "multiple", False):
            kind = list if one.nargs > 1 or kind is Parameter.empty else list[kind]
        default = Parameter.empty if one.required or asks(one) else one.get_default(found)
        if is_unset(default) or default is Parameter.empty and one.value_from_envvar(found) is not None:
            default = None
        place = Parameter.POSITIONAL_OR_KEYWORD if one in positions else Parameter.KEYWORD_ONLY
        return Parameter(one.name, place, default=default, annotation=kind)

    found = [parameter(one, context()) for one in shown]
    found.sort(key=lambda one: (one.kind, one.default is not Parameter.empty))
    call.__signature__ = Signature(found)
    call.__doc__ = value.help
    call.also = {option.lstrip("-"): one.name for one in shown for option in one.opts}
    return call


def asks(one):
    """Reports whether a parameter of click or typer is asked for at a terminal, so that a call must give it."""
    return getattr(one, "prompt", None) not in (None, False)


def is_unset(value):
    return type(value).__name__ == "Sentinel"

