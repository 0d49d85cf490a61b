"""Catalogs: what can be recommended and what matters about it, from files or embedded."""

from druthers.catalogs.catalog import CATALOGS, Catalog, Item

__all__ = ["CATALOGS", "Catalog", "Item"]
