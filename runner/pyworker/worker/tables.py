"""Converts tables of pandas, with their labels, and values of numpy."""

import _pyplug_worker as core

values = core.part("values")
FINER = ("[ns]", "[ps]", "[fs]", "[as]")  # units of time that are too fine for Python


def of_pandas(value):
    """Returns the values of an Index, or of a Series with plain labels. Other tables become records, labels first."""
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
    """Reports whether the labels are the positions, counted from 0."""
    if index.nlevels > 1 or index.name is not None or getattr(index.dtype, "kind", "") != "i":
        return False
    return index.tolist() == list(range(len(index)))


def label(index, level, taken):
    """Returns the name of a level of an index: its own name, or else the name that reset_index chooses."""
    name = index.names[level]
    if name is None:
        name = "level_%d" % level if index.nlevels > 1 else "index"
    name = joined(name)
    return "%s_index" % name if name in taken else name


def joined(name):
    """Returns a name as one text, even if it has several levels, as the names of columns from agg do."""
    return ".".join(str(one) for one in name if one != "") if isinstance(name, tuple) else name


def column(found):
    """Returns the values of a column, with None for NaN."""
    return [None if isinstance(one, float) and one != one else one for one in found.tolist()]


def of_numpy(value):
    """Returns the Python values of an array or a scalar. A structured scalar becomes a dict of its fields."""
    names = value.dtype.names
    if names:
        return list(value) if getattr(value, "ndim", 0) else {name: value[name] for name in names}
    if value.dtype.kind in "mM" and value.dtype.name.endswith(FINER):
        value = value.astype(value.dtype.kind + "8[us]")
    found = value.tolist()
    if type(found) is type(value):  # a long double, which has no Python type
        found = value.astype({"f": "f8", "c": "c16"}[value.dtype.kind]).tolist()
    return found
