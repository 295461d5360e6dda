"""Answers probes: calls the user's health function, and decides from its result whether the plugin is healthy."""

import _pyplug_worker as core

HEALTHY = ("ok", "healthy", "serving", "pass")


def begin(number):
    """Returns the call for a probe, as core.begin does. If there is no health function, it answers and returns None."""
    name = core.probe_name or "health"
    function, why = core.part("hooks").look_up(name)
    if not core.probe_name and (why is not None or core.part("describe").needed(function)):
        core.answer(core.RESULT, number, b"{}")
        return None
    function = core.find(number, name)  # it is an error if the named function does not exist
    return None if function is None else (function, verdict, (name, function), core.NOTHING)


def verdict(name, function):
    return judged(core.part("arguments").run(name, function, core.NOTHING, b""))


def judged(value):
    """Returns the answer to a probe for the result of a health function."""
    if core.part("values").is_awaitable(value):
        return judged_later(value)
    reason = degraded(value)
    return {"degraded": reason} if reason else {}


async def judged_later(value):
    return judged(await value)


def degraded(value):
    """Returns why the plugin is not healthy, or "" if it is."""
    if is_no(value):
        return "health returned %s" % value
    if isinstance(value, str):
        return "" if value.lower() in HEALTHY else value
    if isinstance(value, (list, tuple)):
        if not value or value[0] is not False:
            return ""
        return next((text for text in value[1:] if isinstance(text, str) and text), "health returned %s" % (value,))
    return degraded_keys(value) if isinstance(value, dict) else ""


def degraded_keys(value):
    for key in ("status", "ok", "healthy"):
        found = value.get(key, True)
        status = core.part("errors").as_text(getattr(found, "value", found))
        if is_no(found) or key == "status" and found is not True and status.lower() not in HEALTHY:
            reasons = [value.get(key) for key in ("reason", "message", "detail", "error")]
            reason = next((": " + text for text in reasons if isinstance(text, str) and text), "")
            return "%s is %s%s" % (key, status, reason)
    return ""


def is_no(value):
    """Reports whether a value is 0 or False. numpy's False counts, too."""
    return type(value).__name__ in ("bool", "bool_", "int", "float") and not value
