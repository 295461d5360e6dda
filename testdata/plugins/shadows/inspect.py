"""Has the name of a module that a host may load late."""


def greet(name: str) -> str:
    """Greet somebody."""
    return "Hello from inspect, " + name
