"""Is a journal whole? Damage is told by its place, event by event."""

from druthers.errors import InvalidEvent, OtherJournal, StoreFailure
from druthers.stores.base import PAGE, Store
from druthers.stores.rows import is_whole


def inspect(store: Store) -> list[str]:
    """Return all damage to a journal, each in a sentence that tells where; nothing for one that is whole.

    The database looks at its own files. Then every event must be there, as it was written, and so must those
    that saved states were folded from. Others may write meanwhile.

    Examples
    --------
    >>> from druthers.stores import Event, MemoryStore
    >>> store = MemoryStore()
    >>> store.append(
    ...     [Event("query", {"text": "cheap"}, 12.5), Event("query", {"text": "clean"}, 13.5, checksum="0" * 16)]
    ... )
    [1, 2]
    >>> inspect(store)
    ["event 2, a 'query', is not as it was written"]
    """
    try:
        damage = store.check()
    except OtherJournal:
        raise
    except StoreFailure as problem:
        damage = [str(problem)]
    after, last = 0, store.last()
    while after < last:
        end = min(after + PAGE, last)
        damage += _look_at(store, after, end)
        after = end
    return damage + _missing_witnessed(store, last)


def _look_at(store: Store, after: int, end: int) -> list[str]:
    """Return what is wrong with the events after a position, up to another."""
    try:
        page = [event for event in store.read(after, limit=end - after) if event.position <= end]
    except OtherJournal:
        raise
    except (InvalidEvent, StoreFailure) as problem:
        if end == after + 1:
            return [f"event {end} cannot be read: {problem}"]
        middle = (after + end) // 2
        return _look_at(store, after, middle) + _look_at(store, middle, end)
    damage = []
    for event in page:
        damage += _missing(after, event.position)
        if not is_whole(event):
            damage.append(f"event {event.position}, a {event.kind!r}, is not as it was written")
        after = event.position
    return damage + _missing(after, end + 1)


def _missing_witnessed(store: Store, last: int) -> list[str]:
    """Return what is missing of the end of a journal, as far as saved states tell."""
    lost = store.lost()
    if lost > last:
        return _missing(last, lost + 1)
    return [f"event {lost} is not the one that saved states were folded from"] if lost else []


def _missing(after: int, before: int) -> list[str]:
    """Return that events are missing between two, if there are any."""
    if before == after + 1:
        return []
    return [f"event {after + 1} is missing" if before == after + 2 else f"events {after + 1}-{before - 1} are missing"]
