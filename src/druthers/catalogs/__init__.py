"""Catalogs: what can be recommended and what matters about it, from files or embedded."""

from druthers.catalogs.catalog import CATALOGS, Catalog, Item
from druthers.catalogs.features import ItemFeatures, item_features

__all__ = ["CATALOGS", "Catalog", "Item", "ItemFeatures", "item_features"]
