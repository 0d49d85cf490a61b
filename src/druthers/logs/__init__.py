"""Logs of decisions: recorded in the lab or made from plain rows, kept as Parquet, exported to other tools."""

from druthers.logs.exports import spread, to_obp, write_dsjson
from druthers.logs.files import read_log, write_log
from druthers.logs.rows import from_rows, record
from druthers.logs.table import UTILITY, Log

__all__ = ["UTILITY", "Log", "from_rows", "read_log", "record", "spread", "to_obp", "write_dsjson", "write_log"]
