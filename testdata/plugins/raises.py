"""Raises, in every way that a traceback can look."""


class Custom(Exception):
    """An exception of the plugin's own, with data."""

    def __init__(self, code, **details):
        super().__init__("code {}".format(code))
        self.code = code
        self.details = details


class BadStr(Exception):
    """Cannot be shown."""

    def __str__(self):
        raise RuntimeError("no str")

    __repr__ = __str__


class Empty(Exception):
    """Says nothing."""


def value_error(message: str = "not a name"):
    """One frame, one message."""
    raise ValueError(message)


def deep(depth: int = 3):
    """So many frames of its own."""
    if depth <= 1:
        raise ValueError("deep")
    deep(depth - 1)


def chained():
    """Raised from another one."""
    try:
        int("x")
    except ValueError as error:
        raise Custom(12, place="here") from error


def context():
    """Raised while another one was handled."""
    try:
        {}["key"]
    except KeyError:
        raise LookupError("while looking")


def hidden():
    """Raised `from None`: the first one is not shown."""
    try:
        {}["key"]
    except KeyError:
        raise LookupError("only this") from None


def circular():
    """Two that are each other's cause."""
    a, b = ValueError("a"), ValueError("b")
    a.__cause__, b.__cause__ = b, a
    raise a


def group():
    """An exception group, where Python has them (3.11)."""
    try:
        kind = ExceptionGroup
    except NameError:
        raise RuntimeError("no exception groups") from None
    raise kind("two failed", [ValueError("first"), kind("inner", [TypeError("second")])])


def notes():
    """With notes, where Python has them (3.11)."""
    error = ValueError("noted")
    if hasattr(error, "add_note"):
        error.add_note("while reading line 3")
    raise error


def bad_str():
    """Its message cannot be had."""
    raise BadStr


def empty():
    """It has no message."""
    raise Empty


def lines():
    """Its message has several lines."""
    raise ValueError("first line\nsecond line\n\nlast line")


def huge(size: int = 1 << 20):
    """Its message is a megabyte."""
    raise ValueError("x" * size)


def evaluated():
    """A syntax error of code it makes itself, not of its file."""
    return eval("1 +")


def type_error():
    """A TypeError from inside, not about the call's own arguments."""
    return len(5)


def missing_module():
    """An import inside the call."""
    import nosuchmodule_xyz

    return nosuchmodule_xyz


def open_file(path: str = "data.txt") -> str:
    """Open a file by a relative path."""
    with open(path) as file:
        return file.read()


def assertion(value: int = 0):
    """A failed assertion without a message."""
    assert value


def stop_iteration():
    """What ends a loop elsewhere."""
    raise StopIteration("stray")


async def from_coroutine():
    """The same from a coroutine."""
    deep()
