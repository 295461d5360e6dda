"""Suggests words for arguments that do not fit, with the values that were typed."""

import _pyplug_worker as core

convert, nested = core.part("convert"), core.part("nested")
LONGEST = 500  # the maximum number of characters of a suggestion


def add(plan, request, error):
    """Adds suggestions to a Misfit."""
    error.more["whole"] = whole(plan, request)
    try:
        words = instead(plan, list(plan.decided(request.get("words", ()))), error)
    except Exception:  # the words themselves may be wrong
        return
    if words and sum(map(len, words)) < LONGEST:
        error.more.update(instead=words, as_json="", typed="")


def whole(plan, request):
    """If all of the JSON fits the only parameter, returns its name, and a word and JSON that pass all of it as the value.

    If all of it fits an item of that parameter, a list, returns the name and JSON that passes a list of one item.
    """
    named = request.get("kwargs", {})
    given = named or list(request.get("args", ()))
    needed = [one for one in plan.params if one.required] or plan.params
    if not given or len(needed) != 1 or any(plan.spelled(name, False) in plan.named for name in named):
        return None
    one, name = needed[0], needed[0].name
    if fits(one, given):
        return [name, ("" if one.kind in ("position", "positions") else name) + ":=@-", "[{…}]" if named else "[[…]]"]
    if named and one.kind != "positions" and fits(one, [named]):
        return [name, '{"%s": [{…}]}' % name]
    return None


def fits(parameter, value):
    try:
        parameter.take.json(value)
    except Exception:
        return False
    return True


def instead(plan, given, error):
    """Returns the words that were probably meant, or None."""
    unknown = [(name, word) for name, word in given if name is not None and name not in plan.named]
    if any(word.text is not None and word.text[:2] == "--" for _, word in unknown):
        return None  # --a --b: a may be a flag
    if unknown:
        return of_fields(plan, given, unknown) if plan.names is None else None
    bare = [word for name, word in given if name is None]
    parameter = plan.named.get(error.place) or next((one for one in plan.params if one.list is not None), None)
    if parameter is None or parameter.kind == "position":
        return None
    mine = [word for name, word in given if name == parameter.name]
    if parameter.is_flag:
        texts = [word.text.lower() for word in bare if word.text and word.text.lower() in convert.TRUE + convert.FALSE]
        return ["%s=%s" % (option(parameter.name), texts[0])] if len(texts) == len(bare) == len(mine) == 1 else None
    if parameter.list is not None:
        return of_list(plan, given, parameter)
    texts = [word.text for word in mine]
    if not bare and texts and None not in texts:
        if all("=" in text for text in texts):
            return as_json(parameter, {key: literal(text) for key, _, text in (text.partition("=") for text in texts)})
        if len(texts) > 1 and isinstance(parameter.take, convert.Anything):
            return as_json(parameter, [word.value for word in mine])
    return None


def of_list(plan, given, parameter):
    """Returns the option of a list once for each value, if every value can only belong to the list."""
    names = [name for name, _ in given]
    if any(one.required and one is not parameter and one.name not in names for one in plan.params):
        return None
    values = [word for name, word in given if name in (None, parameter.name)]
    if len(values) < 2 or any(word.text is None or type(word.value) is list for word in values):
        return None
    return [text for word in values for text in (option(parameter.name), word.text)]


def of_fields(plan, given, unknown):
    """Returns words that set the only parameter that is not given, if all unknown names can be its fields or keys."""
    names = [name for name, _ in given]
    left = [one for one in plan.params if one.name not in names and one.kind in ("ordinary", "name")]
    left = [one for one in left if one.required] or left
    if len(left) != 1:
        return None
    fields = nested.fields_of(left[0].take)
    if fields:
        if any(name.partition(".")[0] not in fields for name, _ in unknown):
            return None
        return [text for name, word in unknown for text in of_field("%s.%s" % (left[0].name, name), word)]
    return as_json(left[0], {name: word.value for name, word in unknown})


def of_field(name, word):
    if word.text is None:
        return [option(name)] if word.value is True else ["%s:=%s" % (name, core.encode(word.value).decode())]
    return [option(name), word.text]


def as_json(parameter, value):
    return ["%s:=%s" % (parameter.name, core.encode(value).decode())] if fits(parameter, value) else None


def option(name):
    return "--" + name.replace("_", "-")


def literal(text):
    """Returns the number, the boolean or the null that a text is written as, or else the text."""
    words = {"true": True, "false": False, "null": None}
    if text in words:
        return words[text]
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if repr(value) == text and text not in ("nan", "inf", "-inf"):
            return value
    return text
