"""From raw reviews and tables to the data folders that environments read."""

from __future__ import annotations

from druthers.data.building import Built, build_beeradvocate, build_table, build_tripadvisor
from druthers.data.tables import Columns

__all__ = ["Built", "Columns", "build_beeradvocate", "build_table", "build_tripadvisor"]
