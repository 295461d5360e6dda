"""Has dataclasses with postponed annotations, which need the module in sys.modules."""

from __future__ import annotations

import dataclasses
import typing


@dataclasses.dataclass
class Node:
    """Refers to itself in an annotation."""

    value: int
    next: typing.Optional[Node] = None
    registry: typing.ClassVar[typing.List[str]] = []


def chain(length: int = 2) -> typing.Optional[Node]:
    """Return a linked list of nodes."""
    node = None
    for n in range(length, 0, -1):
        node = Node(n, node)
    return node


def hints() -> list:
    """Return the fields that have a type hint."""
    return sorted(typing.get_type_hints(Node))
