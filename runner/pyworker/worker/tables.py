"""Tables of pandas and values of numpy, with their labels."""

import _pyplug_worker as core

values = core.part("values")
FINER = ("[ns]", "[ps]", "[fs]", "[as]")  # units of time that Python does not have


def of_pandas(value):
    """Returns the values of an Index, or of a Series with plain labels. Anything else becomes records, labels first."""
    if not hasattr(value, "index"):
        return column(value)
    frame, index = hasattr(value, "columns"), value.index
    if not frame and is_plain(index):
        return column(value)
    if frame:
        table = [(joined(name), value.iloc[:, at]) for at, name in enumerate(value.columns)]
    else:
        table = [("value" if value.name is None else joined(value.name), value)]
    taken = [name for name, _ in table]
    if not is_plain(index):
        labels = [(label(index, level, taken), index.get_level_values(level)) for level in range(index.nlevels)]
        table = labels + table
    names = [name for name, _ in table]
    if len(set(names)) < len(names):
        raise values.doubled(value)
    return [dict(zip(names, row)) for row in zip(*[column(one) for _, one in table])]


def is_plain(index):
    """Reports whether the labels are the positions, 0 to n."""
    if index.nlevels > 1 or index.name is not None or getattr(index.dtype, "kind", "") != "i":
        return False
    return index.tolist() == list(range(len(index)))


def label(index, level, taken):
    """The name of a level of an index: its own, else as reset_index has it."""
    name = index.names[level]
    if name is None:
        name = "level_%d" % level if index.nlevels > 1 else "index"
    name = joined(name)
    return "%s_index" % name if name in taken else name


def joined(name):
    """Returns a name as one text, even if it has several levels, as those of columns that agg makes."""
    return ".".join(str(one) for one in name if one != "") if isinstance(name, tuple) else name


def column(found):
    """The values of a column, with None for NaN."""
    return [None if isinstance(one, float) and one != one else one for one in found.tolist()]


def of_numpy(value):
    """The values of an array or a scalar, as Python has them; the fields of a structured one by name."""
    names = value.dtype.names
    if names:
        return list(value) if getattr(value, "ndim", 0) else {name: value[name] for name in names}
    if value.dtype.kind in "mM" and value.dtype.name.endswith(FINER):
        value = value.astype(value.dtype.kind + "8[us]")
    found = value.tolist()
    if type(found) is type(value):  # a long double, which Python does not have
        found = value.astype({"f": "f8", "c": "c16"}[value.dtype.kind]).tolist()
    return found
