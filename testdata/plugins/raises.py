"""Raises errors with every form of traceback."""


class Custom(Exception):
    """A custom exception with data."""

    def __init__(self, code, **details):
        super().__init__("code {}".format(code))
        self.code = code
        self.details = details


class BadStr(Exception):
    """Has no working __str__."""

    def __str__(self):
        raise RuntimeError("no str")

    __repr__ = __str__


class Empty(Exception):
    """Has no message."""


def value_error(message: str = "not a name"):
    """One frame, one message."""
    raise ValueError(message)


def deep(depth: int = 3):
    """This many frames of its own."""
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
    """Two errors that are each other's cause."""
    a, b = ValueError("a"), ValueError("b")
    a.__cause__, b.__cause__ = b, a
    raise a


def group():
    """An exception group, if Python has them (3.11)."""
    try:
        kind = ExceptionGroup
    except NameError:
        raise RuntimeError("no exception groups") from None
    raise kind("two failed", [ValueError("first"), kind("inner", [TypeError("second")])])


def notes():
    """An error with notes, if Python has them (3.11)."""
    error = ValueError("noted")
    if hasattr(error, "add_note"):
        error.add_note("while reading line 3")
    raise error


def bad_str():
    """An error whose message cannot be computed."""
    raise BadStr


def empty():
    """An error without a message."""
    raise Empty


def lines():
    """An error with several lines."""
    raise ValueError("first line\nsecond line\n\nlast line")


def huge(size: int = 1 << 20):
    """An error with a message of one megabyte."""
    raise ValueError("x" * size)


def evaluated():
    """A syntax error in evaluated code, not in this file."""
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
    """StopIteration, outside of an iterator."""
    raise StopIteration("stray")


async def from_coroutine():
    """An error from a coroutine."""
    deep()
