"""Functions over arrays of numpy."""

import numpy


def mean(values: list) -> dict:
    array = numpy.array(values)
    return {"mean": array.mean(), "largest": array.max(), "all": array, "count": numpy.int64(array.size)}


def product(left: list, right: list):
    return numpy.array(left) @ numpy.array(right)


def noise():
    return numpy.random.default_rng().random()


def clock(text: str):
    return numpy.datetime64(text)


def root(value: float):
    return {"root": numpy.emath.sqrt(value)}
