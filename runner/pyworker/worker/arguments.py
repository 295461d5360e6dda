"""Gives a hook its arguments: which parameter each one is for, and converted to what that parameter promises.

Loaded with the first hook whose annotations need more than a comparison of types, and
with the first arguments that do not fit.
"""

from _thread import allocate_lock

import _pyplug_worker as core

describe, annotations = core.part("describe"), core.part("annotations")
convert = core.part("convert")
EMPTY = describe.EMPTY

plans = {}  # hook → (its function, its plan)
making = allocate_lock()


class Misfit(Exception):
    """Arguments that do not fit a hook: what is wrong, where, and more for the answer."""

    def __init__(self, message, place="", **more):
        super().__init__(message)
        self.place, self.more, self.plan = place, more, None


def run(name, function, request, body):
    """Calls a hook with the arguments of a call, or raises Misfit."""
    plan = plan_of(name, function)
    if plan.literal:
        request = with_literals(body)
    try:
        try:
            args, kwargs = plan.arguments(request)
        except convert.Inexact:
            args, kwargs = plan.arguments(with_literals(body))
    except Misfit as error:
        error.plan = plan
        raise
    except RecursionError:
        raise Misfit("nested too deeply") from None
    return function(*args, **kwargs)


def plan_of(name, function):
    """The plan of a hook, made once."""
    key = describe.hooks.underlying(function)
    found = plans.get(name)
    if found is None or found[0] is not key:
        with making:
            found = plans[name] = key, Plan(function)
    return found[1]


def with_literals(body):
    """Decodes a call whose numbers keep their literals."""
    rules = core.part("start").Rules
    convert.Number.used = True
    literal = type("Literals", (rules,), {"parse_float": convert.Number})
    scan = core.part("start").scanner(literal)
    return core.part("start").without_limit(scan, bytes(body).decode(), 0)[0]


def refuse(number, error, function=None, args=(), kwargs=core.NOTHING):
    """Answers that arguments do not fit: by a Misfit, or by the TypeError with which a function was not called."""
    if not isinstance(error, Misfit):
        error = explained(error, function, args, kwargs)
    more = {key: value for key, value in error.more.items() if value}
    if error.plan is not None:
        more["signature"] = error.plan.described()
    core.part("errors").refuse(number, "arguments", str(error), place=error.place, **more)


def explained(error, function, args, kwargs):
    """The Misfit for a TypeError; with Python's words if the signature says that the arguments fit."""
    try:
        if function is not run:
            plan = Plan(function)
            plan.bind([(None, one) for one in args] + list(kwargs.items()))
    except Misfit as misfit:
        misfit.plan = plan
        return misfit
    except Exception:
        pass
    return Misfit(core.part("errors").text_of(error))


class Parameter:
    """A parameter of a hook, and how its arguments are converted."""

    def __init__(self, name, kind, default, note, names):
        self.name, self.kind = name, kind
        self.described = describe.given(default) is not default  # so that the function must get what it has
        self.required = describe.given(default) is EMPTY and kind not in ("positions", "names")
        self.raw = default, note
        try:
            self.take = converter(default, note, names) if core.converts else annotations.ANYTHING
        except Exception:  # it is Unresolved, or a type that does something of its own when it is looked at
            self.take = annotations.ANYTHING


def converter(default, note, names):
    """Makes the converter of what a parameter promises, by its annotation, else by its default."""
    limits = getattr(default, "metadata", None)
    default = describe.given(default)
    if note is EMPTY:
        decides = default is not EMPTY and default is not None
        return annotations.converter(type(default), names) if decides else annotations.ANYTHING
    found = annotations.limited(note, limits, names) if limits else annotations.converter(note, names)
    if default is None and found is not annotations.ANYTHING:
        found = convert.Union([*getattr(found, "members", [found]), annotations.NULL])
    return found


class Plan:
    """The parameters of a hook."""

    def __init__(self, function):
        params, self.returns = describe.signature(function)
        names = describe.names_of(function)
        annotations.literal = False
        self.params = [Parameter(*one, names) for one in params]
        self.literal = annotations.literal
        kinds = {one.kind: one for one in self.params}
        self.rest, self.names = kinds.get("positions"), kinds.get("names")
        self.by_position = [one for one in self.params if one.kind in ("position", "ordinary")]
        self.named = {one.name: one for one in self.params if one.kind not in ("positions", "names")}
        self.filled = [one for one in self.params if one.described]

    def described(self):
        """The signature, as pyplug writes it."""
        info = {"params": [describe.param(one.name, one.kind, *one.raw) for one in self.params]}
        if self.returns is not EMPTY:
            info["returns"] = describe.type_text(self.returns)
        return info

    def arguments(self, request):
        """Returns the arguments of a call, converted."""
        words = request.get("words")
        if words is None:
            given = [(None, one) for one in request.get("args", ())]
            given += request.get("kwargs", core.NOTHING).items()
            take = from_json
        else:
            given = [(word.get("name"), Word(word)) for word in words]
            take = from_word
        args, kwargs = [], {}
        for name, parameter, item in self.bind(given):
            try:
                value = take(parameter.take, item)
            except convert.Refused as error:
                if parameter is self.rest:
                    error.below("[%d]" % (len(args) - len(self.by_position)))
                raise misfit(name or parameter.name, error) from None
            if name is None:
                args.append(value)
            else:
                kwargs[name] = value
        for one in self.filled:
            if one.kind == "position" and self.by_position[len(args) : len(args) + 1] == [one]:
                args.append(describe.given(one.raw[0]))
            elif one.kind != "position" and one.name not in kwargs and one not in self.by_position[: len(args)]:
                kwargs[one.name] = describe.given(one.raw[0])
        return args, kwargs

    def bind(self, given):
        """Returns the parameter of each argument, as (name or None, parameter, argument)."""
        bound, seen, count = [], {}, 0
        for name, item in given:
            if name is None:
                parameter = self.at(count, item, seen)
                key = parameter.name if count < len(self.by_position) else None
                count += 1
            else:
                parameter, key = self.named_by(name, item)
            if key in seen:
                twice = '%s is given twice, by %s and by %s'
                raise Misfit(twice % (name or key, typed(*seen[key]), typed(name, item)), name or key)
            if key is not None:
                seen[key] = name, item
            bound.append((name, parameter, item))
        missing = [one.name for one in self.params if one.required and one.name not in seen]
        if missing:
            text = " and ".join(filter(None, (", ".join(missing[:-1]), missing[-1])))
            text += " is missing, want" if len(missing) == 1 else " are missing, want"
            raise Misfit(text, missing[0], ends=True)
        return bound

    def at(self, count, item, seen):
        """The parameter that the next position gives."""
        if count < len(self.by_position):
            return self.by_position[count]
        if self.rest is not None:
            return self.rest
        most = "at most %d" % len(self.by_position) if self.by_position else "none"
        text = "unexpected value %s, want %s by position:" % (typed(None, item), most)
        other = next((one.name for one in self.params if one.kind == "name" and one.name not in seen), "")
        raise Misfit(text, ends=True, other=other)

    def named_by(self, name, item):
        """The parameter that a name gives, and what to remember it by: **kwargs may repeat a name."""
        found = self.named.get(name)
        if found is not None and found.kind != "position":
            return found, name
        if self.names is not None:
            return self.names, "**" + name
        if found is not None:
            raise Misfit("%s is given by name, want it by position:" % name, name, ends=True)
        known = [one.name for one in self.named.values() if one.kind != "position"]
        text = 'no parameter %s, want' % convert.shown(name)
        word = "%s=%s" % (name, item["text"]) if isinstance(item, Word) and "text" in item else ""
        raise Misfit(text, name, ends=True, unknown=name, choices=known, typed=word)


class Word(dict):
    """A word, with the keys of docs/http.md: "name" if it has one, and "text" or "json". A text has a "form" if it must
    stay text, and a "value", which it is where no type decides, if that is not the text.
    """


def typed(name, item):
    """An argument for a message: a word as it was typed, more or less, else JSON."""
    if not isinstance(item, Word):
        return convert.shown(item)
    text = item.get("text")
    if text is None:
        text = ":=" + convert.shown(item["json"])
    elif name is not None:
        text = "=" + text
    return convert.shown((name or "") + text)


def from_json(take, value):
    return take.json(value)


def from_word(take, word):
    text = word.get("text")
    if text is None:
        return take.json(word["json"])
    value = word.get("value", text)
    return take.verbatim(text, value) if "form" in word else take.word(text, value)


def misfit(name, error):
    """The Misfit for a value that was refused."""
    place = core.part("values").shown("$.%s%s" % (name, error.path)) if error.path else name
    want = error.want
    if error.choices and not want.startswith("one of "):
        want = "one of " + ", ".join(map(str, error.choices))
    text = "%s %s" % (place, error.problem or "is " + convert.shown(error.value))
    if error.problem == "is missing" and error.why:
        want, error.why = error.why, ""
    text += (", want " + want if want else "") + (": " + error.why if error.why else "")
    text += "".join("; $.%s%s: %s" % (name, path, what) for path, what in error.others)
    near = error.value if type(error.value) is str else ""
    return Misfit(text, place, near=near, choices=list(error.choices))
