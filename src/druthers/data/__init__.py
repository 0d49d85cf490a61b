"""What comes from outside: reviews and ratings into data folders, tables into catalogs, studies of people."""

from druthers.data.reviews.building import Built, build_beeradvocate, build_table, build_tripadvisor
from druthers.data.reviews.tables import Columns

__all__ = ["Built", "Columns", "build_beeradvocate", "build_table", "build_tripadvisor"]
