"""Sets fields of an object from words such as --item.name VALUE."""

import _pyplug_worker as core

convert, containers, arguments = core.part("convert"), core.part("containers"), core.part("arguments")


def object_of(take):
    """Returns the converter of the object with fields that a converter takes, or None."""
    return next((one.bare for one in take.members if one.bare.fields), None)


def fields_of(take):
    """Returns the fields of the object that a converter takes, as name → (converter, …), or {} if it takes none."""
    found = object_of(take)
    return core.NOTHING if found is None else found.fields


def split(plan, name):
    """Splits a name into a parameter and the path of a field. The path is empty if the name does not refer to a field."""
    head, _, path = (name or "").partition(".")
    found = plan.named.get(head)
    if not path or name in plan.named or found is None or found.kind == "position" or not fields_of(found.take):
        return name, []
    return head, path.split(".")


def leaf(plan, name, dashed=False):
    """Returns the converter of the field that a name refers to, or None if it does not refer to a field."""
    head, path = split(plan, name)
    take = plan.named[head].take if path else None
    for at, part in enumerate(path):
        fields = fields_of(take)
        if part not in fields:
            known = [".".join([head, *path[:at], one]) for one in fields]
            text = "no field %s, expected %s" % (convert.shown(name), "one of " + ", ".join(known) if known else "none")
            raise arguments.Misfit(text, name, plan, unknown=name, choices=known, dashed=dashed)
        take = fields[part][0]
    return take


def is_flag(plan, name):
    try:
        take = leaf(plan, name)
    except arguments.Misfit:
        return False
    return take is not None and take.is_flag


def gathered(plan, given):
    """Replaces the words that set fields of a parameter by one word that sets the whole parameter."""
    objects, words, found = {}, {}, []
    for name, item in given:
        head, path = split(plan, name)
        if not path:
            found.append((name, item))
        elif name in words:
            words[name].append(item)
        else:
            words[name] = [item]
            if head not in objects:
                objects[head] = {}
                found.append((head, arguments.Word(None, objects[head], typed=item.typed)))
    for name, items in words.items():
        take = leaf(plan, name, items[0].typed[:2] == "--")
        head, path = split(plan, name)
        within = objects[head]
        for part in path[:-1]:
            within = within.setdefault(part, {})
            if type(within) is not dict:
                raise arguments.Misfit("%s is given twice, as a value and by its fields" % part, name, plan)
        try:
            within[path[-1]] = json_of(take, items)
        except convert.Refused as error:
            raise arguments.misfit(name, error, plan) from None
    return found


def json_of(take, items):
    """Returns the value of a field as JSON. Several words are the elements of a list."""
    inner = next((one.bare for one in take.members if isinstance(one.bare, containers.Items)), None)
    if len(items) == 1:
        try:
            return one_json(take, items[0])
        except convert.Refused:
            if inner is None or items[0].text is None:
                raise
    if inner is None:
        raise convert.Refused(items[1].text, take.text, problem="is given twice")
    return [one_json(inner.item, item) for item in items]


def one_json(take, item):
    """Returns the JSON that a converter turns into the same value as a word."""
    made = item.converted(take)
    if made is None or type(made) in (bool, int, float, str):
        return made
    for value in (item.text, item.value):
        try:
            take.json(value)
            return value
        except convert.Refused:
            pass
    return item.value
