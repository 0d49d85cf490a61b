"""Stores: where the journal of a service lives."""

from druthers.stores.base import Event, Snapshot, Store, UserState

__all__ = ["Event", "Snapshot", "Store", "UserState"]
