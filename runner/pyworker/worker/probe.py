"""Asks the user's file whether it is healthy."""

import _pyplug_worker as core

HEALTHY = ("ok", "healthy", "serving", "pass")


def find(number):
    """Returns the health function; if there is none, answers and returns None."""
    hooks = core.part("hooks")
    name = core.probe_name or "health"
    function, why = hooks.look_up(name)
    if why is not None and core.probe_name:
        hooks.find(number, name)  # it was named: its absence is an error
        return None
    if why is not None or not core.probe_name and core.part("describe").needed(function):
        judge(number, None)
        return None
    return hooks.ready(function)


def judge(number, value):
    """Answers with the verdict that a health function returned."""
    if core.part("values").is_awaitable(value):
        return core.start_task(number, value, judge)
    reason = degraded(value)
    core.answer(core.RESULT, number, core.encode({"degraded": reason} if reason else {}))


def degraded(value):
    """Why a plugin is not healthy, "" when it is."""
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
