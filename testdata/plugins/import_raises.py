"""Raises during its import, two frames deep."""


def _load(path):
    raise ValueError("cannot load " + path)


def _configure():
    try:
        {}["model"]
    except KeyError:
        _load("model.bin")


_configure()
