"""Limits in annotations, and types of pydantic's own: pydantic checks them, where it is installed."""

import _pyplug_worker as core

annotations = core.part("annotations")


def converter(note, rules, names):
    """Makes the converter of an annotation with limits; None if pydantic cannot check them."""
    try:
        from pydantic import TypeAdapter
        from typing import Annotated

        if isinstance(note, str):
            note = annotations.evaluated(note, names)
        validate = TypeAdapter(Annotated[(note, *rules)] if rules else note).validate_python
    except annotations.Unresolved:
        raise
    except Exception:  # pydantic is missing or old, or does not know the type
        return None
    inner = None
    if rules and not any(hasattr(type(one), "__get_pydantic_core_schema__") for one in rules):  # they convert nothing
        inner = annotations.converter(note, names)
        if isinstance(inner, annotations.Anything):
            inner = None
    return core.part("shapes").Model(note, annotations.text_of(note), validate, inner)


def dumper(kind):
    """Returns the function that converts the results of a class as pydantic does; None if it cannot."""
    try:
        from pydantic import TypeAdapter

        adapter = TypeAdapter(kind)
    except Exception:
        return None
    return lambda value: adapter.dump_python(value, mode="json")
