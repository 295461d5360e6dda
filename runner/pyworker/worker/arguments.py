"""Assigns the arguments of a call to the hook's parameters, and converts them to the parameters' types."""

from _thread import allocate_lock

import _pyplug_worker as core

describe, annotations = core.part("describe"), core.part("annotations")
convert, containers = core.part("convert"), core.part("containers")
EMPTY = describe.EMPTY

plans = {}  # hook → (its function, its plan)
making = allocate_lock()


class Misfit(core.Refusal):
    """Reports arguments that do not fit a hook: the message, the place, the plan, and more keys of the answer."""

    def __init__(self, message, place="", plan=None, **more):
        super().__init__(message)
        self.place, self.plan, self.more = place, plan, more

    def answer(self, number):
        more = {key: value for key, value in self.more.items() if value}
        if self.plan is not None:
            more["signature"] = self.plan.described()
        core.part("errors").refuse(number, "arguments", str(self), place=self.place, **more)


def run(name, function, request, body):
    """Calls a hook with the arguments of a call, or raises Misfit."""
    plan = plan_of(name, function)
    try:
        try:
            args, kwargs = plan.arguments(request)
        except convert.Inexact:
            args, kwargs = plan.arguments(with_literals(body))
    except RecursionError:
        raise Misfit("nested too deeply") from None
    return function(*args, **kwargs)


def plan_of(name, function):
    key = describe.hooks.underlying(function)
    found = plans.get(name)
    if found is None or found[0] is not key:
        with making:
            found = plans[name] = key, Plan(function)
    return found[1]


def with_literals(body):
    """Decodes a call whose numbers keep their literals."""
    convert.Number.used = True
    scan = core.part("start").scanner(convert.Number)
    return core.part("start").without_limit(scan, bytes(body).decode(), 0)[0]


def explained(error, function, args, kwargs):
    """Returns the Misfit for a TypeError from calling a function. It has Python's message if the plan finds no misfit."""
    try:
        if function is not run:
            key = describe.hooks.underlying(function)
            name = next(name for name, one in core.known.items() if one is key)
            plan_of(name, function).arguments({"args": args, "kwargs": kwargs})
    except Misfit as misfit:
        return misfit
    except Exception:
        pass
    return Misfit(core.part("errors").text_of(error))


class Parameter:
    """Describes a parameter of a hook, and converts its arguments."""

    def __init__(self, name, kind, default, note, names):
        self.name, self.kind = name, kind
        self.default, self.note = default, note
        value = describe.given(default)
        # Whether the default is a description such as Field(5). The function then needs the described value.
        self.described = default is not describe.LEFT_OUT and value is not default
        try:
            self.promise = converter(value, note, names, getattr(default, "metadata", None))
        except Exception as error:  # the annotation is Unresolved, or reading its attributes raises
            self.promise = convert.Anything(annotations.reason(error))
        self.take = self.promise if core.converts else annotations.ANYTHING
        self.is_flag = self.promise.is_flag and kind in ("ordinary", "name")  # --name has no value
        self.required = describe.is_required(kind, default, value)
        self.list = next((one for one in self.promise.members if isinstance(one.bare, containers.Items)), None)

    def info(self):
        """Describes the parameter. It omits unknown keys."""
        info = {"name": self.name, "required": self.required, "kind": self.kind}
        default = describe.given(self.default)
        text = "" if self.note is EMPTY else describe.type_text(self.note)
        if not text and type(default) in (str, int, float, bool):
            text = type(default).__name__
        if text:
            info["type"] = text
        if self.is_flag:
            info["flag"] = True
        if default is not EMPTY:
            info["default"] = describe.bounded(describe.safe_repr(default), describe.DEFAULT)
        why = "" if self.note is EMPTY else self.promise.unresolved(set())
        if why:
            info["unresolved"] = describe.bounded(why, describe.TYPE)
        return info

    def json_word(self):
        """Returns an example word with the parameter as JSON if it takes an object or a list, or else an empty text."""
        found = self.take.example()
        name = "" if self.kind in ("position", "positions") else self.name
        return name + ":=" + convert.shown(found) if type(found) in (list, dict) else ""

    def by_name(self, words):
        """Converts the words that pass the parameter by name. For a list, each word is an element, or a single word is the list."""
        if len(words) == 1:
            try:
                return words[0].converted(self.take)
            except convert.Refused:
                if self.list is None or words[0].text is None or type(words[0].value) is list:
                    raise
        if isinstance(self.take, convert.Anything):
            return [word.converted(self.take) for word in words]
        take = self.list.bare
        items = containers.each([lambda word: word.converted(take.item)] * len(words), words)
        made = take.whole(items, items)
        return made if take is self.list else self.list.valid(made)


def converter(default, note, names, limits):
    """Makes the converter of a parameter from its annotation, or else from its default. limits come from the default."""
    if note is EMPTY:
        decides = default is not EMPTY and default is not None
        return annotations.converter(type(default), names) if decides else annotations.ANYTHING
    found = annotations.limited(names.resolve(note), limits) if limits else annotations.converter(note, names)
    if default is None and not isinstance(found, convert.Anything):
        found = containers.Union([*found.members, annotations.NULL])
    return found


class Plan:
    """Assigns and converts the arguments of a hook by its signature."""

    def __init__(self, function):
        params, self.returns = describe.signature(function)
        self.scope = describe.names_of(function)
        self.params = [Parameter(*one, self.scope) for one in params]
        kinds = {one.kind: one for one in self.params}
        self.rest, self.names = kinds.get("positions"), kinds.get("names")
        self.by_position = [one for one in self.params if one.kind in ("position", "ordinary")]
        self.named = {one.name: one for one in self.params if one.kind not in ("positions", "names")}
        self.filled = [one for one in self.params if one.described and not one.required]

    def described(self):
        """Returns the signature in the form of a description."""
        info = {"params": [one.info() for one in self.params]}
        if self.returns is not EMPTY:
            info["returns"] = describe.type_text(self.returns)
        return info

    def arguments(self, request):
        """Returns the converted arguments of a call, or raises Misfit."""
        try:
            return self.converted(request)
        except Misfit as error:
            core.part("suggest").add(self, request, error)
            raise

    def converted(self, request):
        """Converts the arguments. A name in the JSON of a call takes precedence over the same name in words."""
        named, positions = self.placed(self.renamed(request.get("kwargs", core.NOTHING)), list(request.get("args", ())))
        given = [one for one in self.decided(request.get("words", ())) if one[0] not in named]
        if any(name is not None and "." in name for name, _ in given):
            given = core.part("nested").gathered(self, given)
        given += [(None, one) for one in positions]
        given += named.items()
        args, kwargs = [], {}
        for name, parameter, items in self.bind(given):
            item = items[0]
            try:
                if not isinstance(item, Word):
                    value = parameter.take.json(item)
                elif name is None:
                    value = item.converted(parameter.take)
                else:
                    value = parameter.by_name(items)
            except convert.Refused as error:
                if parameter is self.rest:
                    error.below(len(args) - len(self.by_position))
                refused = misfit(name or parameter.name, error, self)
                refused.more["word"] = number_of(item) if name is None else 0
                if isinstance(item, Word) and not error.path:
                    refused.more["as_json"] = parameter.json_word()
                raise refused from None
            if name is None:
                args.append(value)
            else:
                kwargs[name] = value
        for one in self.filled:
            if one.kind == "position" and self.by_position[len(args) : len(args) + 1] == [one]:
                args.append(describe.given(one.default))
            elif one.kind != "position" and one.name not in kwargs and one not in self.by_position[: len(args)]:
                kwargs[one.name] = describe.given(one.default)
        return args, kwargs

    def renamed(self, named):
        """Returns the JSON arguments by the names of their parameters: "from" becomes "from_" if only that exists."""
        found = {}
        for name, one in named.items():
            own = self.spelled(name, False)
            if own in found:
                raise Misfit("%s is given twice" % own, own, self)
            found[own] = one
        return found

    def placed(self, named, positions):
        """Moves the JSON arguments by name that Python accepts only by position to the positions, if there are none."""
        if positions or self.rest is None and not any(one.kind == "position" for one in self.by_position):
            return named, positions
        rest = []
        if self.rest is not None and type(named.get(self.rest.name)) is list:
            rest = named.pop(self.rest.name)
        for one in self.by_position:
            if rest and one.name not in named:
                raise Misfit("%s is missing, expected" % one.name, one.name, self, ends=True)
            if one.name not in named or one.kind != "position" and not rest:
                break
            positions.append(named.pop(one.name))
        return named, positions + rest

    def decided(self, words):
        """Yields each word as (name or None, word). The parameters decide whether an option takes the next word as its value."""
        words = enumerate(words, 1)
        for number, word in words:
            if type(word) is str:
                yield None, Word(word, word, True)
            elif "fault" in word:
                raise Misfit(word["fault"], word.get("name", ""), self)
            elif word.get("form") == "option":
                yield self.option(word, number, words)
            elif word.get("form") == "rest":
                for _, text in words:
                    yield None, Word(*whole(text), True)
            else:
                text, given = word.get("text"), word.get("typed", "")
                value = word["json"] if text is None else word.get("value", text)
                yield self.spelled(word.get("name"), given[:2] == "--"), Word(text, value, "form" in word, number, given)

    def option(self, word, number, words):
        """Returns the argument of the option --name. Its value is the next word, unless the option is a flag."""
        name, option = self.spelled(word["name"], True), word["typed"]
        if self.is_flag(name):
            return name, Word(None, True, typed=option)
        other = self.spelled(word["name"][3:], True)
        if name not in self.named and word["name"][:3] in ("no-", "no_") and self.is_flag(other):
            return other, Word(None, False, typed=option)
        _, value = next(words, (0, None))
        if value is None and (name in self.named or self.names is not None):
            raise Misfit("%s needs a value" % option, name, self)
        text, value = whole("" if value is None else value)
        return name, Word(text, value, False, number, option + " " + text, option)

    def is_flag(self, name):
        return self.named[name].is_flag if name in self.named else "." in name and core.part("nested").is_flag(self, name)

    def spelled(self, name, dashed):
        """Returns the name that a word gives. For --a-b it is a_b, unless there is a parameter a-b, and for --from it may be from_."""
        name = self.called(name)
        name = name.replace("-", "_") if dashed and name and name not in self.named else name
        trailed = "%s_" % name
        return trailed if name and trailed in self.named and name not in self.named and self.names is None else name

    def called(self, name):
        """Returns the name of the parameter for a name, which Python may normalize."""
        if name is None or name in self.named or name.isascii():
            return name
        other = describe.hooks.normalized(name)
        return other if other in self.named else name

    def bind(self, given):
        """Returns the parameter of each argument, as (name or None, parameter, [argument]). A list may have several arguments."""
        bound, seen, count = [], {}, 0
        for name, item in given:
            if name is None:
                parameter = self.at(count, item, seen)
                key = parameter.name if count < len(self.by_position) else None
                count += 1
            else:
                parameter, key = self.named_by(name, item, seen)
            entry = seen.get(key)
            if entry is None:
                entry = name, parameter, []
                bound.append(entry)
            elif parameter.list is None or None in (name, entry[0]) or not isinstance(item, Word):
                twice = "%s is given twice: %s and %s"
                raise Misfit(twice % (name or key, typed(entry[0], entry[2][0]), typed(name, item)), name or key, self)
            entry[2].append(item)
            if key is not None:
                seen[key] = entry
        missing = [one.name for one in self.params if one.required and one.name not in seen]
        if missing:
            text = " and ".join(filter(None, (", ".join(missing[:-1]), missing[-1])))
            text += " is missing, expected" if len(missing) == 1 else " are missing, expected"
            raise Misfit(text, missing[0], self, ends=True)
        return bound

    def at(self, count, item, seen):
        """Returns the parameter of the next argument by position."""
        if count < len(self.by_position):
            return self.by_position[count]
        if self.rest is not None:
            return self.rest
        most = "at most %d" % len(self.by_position) if self.by_position else "none"
        text = "unexpected value %s, expected %s by position:" % (typed(None, item), most)
        other = next((one.name for one in self.params if one.kind == "name" and one.name not in seen), "")
        raise Misfit(text, "", self, ends=True, other=other, word=number_of(item))

    def named_by(self, name, item, seen):
        """Returns the parameter for a name, and its key. The key differs if **kwargs repeats a positional-only name."""
        found = self.named.get(name)
        if found is not None and found.kind != "position":
            return found, name
        if self.names is not None:
            return self.names, "**" + name
        if found is not None:
            raise Misfit("%s is given by name, expected it by position:" % name, name, self, ends=True)
        known = [one.name for one in self.named.values() if one.kind != "position"]
        more = {"unknown": name, "choices": known, "word": number_of(item)}
        if isinstance(item, Word):
            left = [one for one in self.params if one.name not in seen]
            owners = [one for one in left for take in one.take.members if name in take.bare.fields]
            more["dashed"] = item.typed[:2] == "--"
            if owners:
                more["as_json"] = owners[0].json_word()
            elif item.text is not None and any(one.take.takes_text and one.kind != "name" for one in left):
                more["typed"] = item.option or item.typed or "%s=%s" % (name, item.text)
        raise Misfit("no parameter %s, expected" % convert.shown(name), name, self, ends=True, **more)


class Word:
    """Holds an argument from the command line: its text, or None for JSON, and its value for a parameter without a type.

    If verbatim is set, the argument is always text.
    """

    def __init__(self, text, value, verbatim=False, number=0, typed="", option=""):
        self.text, self.value, self.verbatim = text, value, verbatim
        self.number = number  # the number of the word, from 1, or 0 if it does not matter
        self.typed = typed  # the whole word, if it is known
        self.option = option  # the option before the word, if the word is its value

    def converted(self, take):
        return take.json(self.value) if self.text is None else take.word(self.text, self.value, self.verbatim)


def whole(word):
    """Returns the text of a word that turned out to have no name, and its value for a parameter without a type."""
    if type(word) is str:
        return word, word
    text = word.get("typed", word.get("text"))
    return text, text if "typed" in word else word.get("value", text)


def number_of(item):
    """Returns the number of an argument's word, from 1, or 0 for JSON and for a word that must be text."""
    return item.number if isinstance(item, Word) and not item.verbatim else 0


def typed(name, item):
    """Returns an argument for a message: a word approximately as it was typed, or JSON."""
    if not isinstance(item, Word):
        return convert.shown(item)
    text = ":=" + convert.shown(item.value) if item.text is None else item.text if name is None else "=" + item.text
    return convert.shown(item.typed or (name or "") + text)


def misfit(name, error, plan=None):
    place = core.part("values").shown("$.%s%s" % (name, error.path)) if error.path else name
    want, choices = error.want, convert.labels(error.choices)
    if choices and not want.startswith("one of "):
        want = "one of " + ", ".join(choices)
    text = "%s %s" % (place, error.problem or "is " + convert.shown(error.value))
    if error.problem == "is missing" and error.why:
        want, error.why = error.why, ""
    text += (", expected " + want if want else "") + (": " + error.why if error.why else "")
    text += "".join("; $.%s%s: %s" % (name, path, what) for path, what in error.others)
    near = error.value if type(error.value) is str else ""
    return Misfit(text, place, plan, near=near, choices=choices)
