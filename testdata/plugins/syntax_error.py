"""Is no Python: the bracket is never closed."""


def greet(name):
    return "Hello, {}".format((name)
