"""A submodule that is imported during a call."""

WORD = "late"
