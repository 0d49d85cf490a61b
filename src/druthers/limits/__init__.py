"""Limits: what an item must be, in the language of programs (`where`) and in that of people."""

from druthers.limits.columns import Columns, Relaxation
from druthers.limits.sentences import LimitReader, speaks_of_money
from druthers.limits.stated import Limits, Stated
from druthers.limits.where import SCHEMA, Range, Where, check_shape, check_where, merge

__all__ = [
    "SCHEMA",
    "Columns",
    "LimitReader",
    "Limits",
    "Range",
    "Relaxation",
    "Stated",
    "Where",
    "check_shape",
    "check_where",
    "merge",
    "speaks_of_money",
]
