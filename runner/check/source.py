"""Compiles the files that its arguments name, without running them.

It prints the type, message, line, column and text of each error between two marks, because code that site runs may print,
too. A file that cannot be read has no error.
"""

import sys

if sys.path[:1] == [""]:  # the working directory: no code in it may run
    del sys.path[0]
import os
import warnings

LONGEST = 1000  # characters of a message, and of a line of source


def fault(source, path):
    """Returns why a file does not compile, or an empty list if it does."""
    try:
        compile(source, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        text = str(error.text or "").rstrip()
        text, column = (text, max(error.offset or 0, 0)) if len(text) <= LONGEST else ("", 0)
        return [type(error).__name__, error.msg, error.lineno or line_of_zero(source), column, text]
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        return [type(error).__name__, error, line_of_zero(source), 0, ""]
    return []


def line_of_zero(source):
    """Returns the line of the first null byte, which Python does not report, or 0 if there is none."""
    zero = source.find(b"\0")
    return source.count(b"\n", 0, zero) + 1 if zero >= 0 else 0


def main(paths):
    warnings.simplefilter("ignore")
    answer = []
    for number, path in enumerate(paths):
        try:
            with open(path, "rb") as file:
                found = fault(file.read(), path)
        except OSError:
            continue
        if found:
            answer += [number] + found
    words = [str(word)[:LONGEST].replace("\0", "").replace("\036", "") for word in answer]
    os.write(1, b"\036pyplug " + "\0".join(words).encode("utf-8", "replace") + b"\036")


main(sys.argv[1:])
