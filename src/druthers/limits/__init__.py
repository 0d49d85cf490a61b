"""Limits: what an item must be, in the language of programs (`where`) and in that of people."""

from druthers.limits.columns import Columns, Relaxation
from druthers.limits.sentences import LimitReader
from druthers.limits.stated import Limits, Stated
from druthers.limits.where import SCHEMA, Range, Where, check_shape, check_where, merge
from druthers.limits.words import speaks_of_money

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
