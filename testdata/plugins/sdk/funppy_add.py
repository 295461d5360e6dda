"""Functions for HttpRunner, on the SDK funppy."""

import funppy


def add(a, b):
    return a + b


if __name__ == "__main__":
    funppy.register("add", add)
    funppy.serve()
