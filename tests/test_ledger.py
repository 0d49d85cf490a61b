"""What was erased and revoked stays so when an older journal is put back."""

from __future__ import annotations

import json
import stat

import pytest
from backups import Backup
from test_advisor import INNS

from druthers.advisor import Advisor, events, verify
from druthers.advisor.ledger import Ledger, keys_of, ledger_of
from druthers.errors import StoreFailure, UnknownUser
from druthers.stores import STORES, open_store
from druthers.stores.moving import export_events, import_events


@pytest.fixture(params=[name for name in STORES if name != "memory"])
def url(request, tmp_path):
    """Return the URL of a fresh journal of each kind that lasts."""
    if request.param == "postgresql":
        return request.getfixturevalue("postgres").fresh()
    return f"sqlite:{tmp_path / 'journal.db'}"


def key_event(id, kind=events.KEY):
    body = {"id": id, "digest": "0" * 64, "role": "admin", "name": ""} if kind == events.KEY else {"id": id}
    return events.make(kind, body, key=f"key:{id}" if kind == events.KEY else None)


def lived(url, tmp_path):
    """Have people speak, take a backup, and erase and revoke some; return the backup and the ledger."""
    ledger = Ledger(tmp_path / "ledger")
    with Advisor(INNS, store=url, parser="lexicon") as advisor:
        advisor.store.append([key_event("old"), key_event("lost")])
        for user in ("rosa", "bob", "eve"):
            advisor.hear(user, f"quiet, says {user}")
        advisor.forget("eve")
        ledger.follow(advisor.store)
        backup = Backup(url, tmp_path)
        export_events(advisor.store, tmp_path / "journal.jsonl")
        advisor.hear("new", "clean, says new")
        for user in ("rosa", "new"):
            advisor.forget(user)
        advisor.store.append([key_event("lost", events.REVOCATION)])
        ledger.follow(advisor.store)
        ledger.follow(advisor.store)
    return backup, ledger


def check_again(store, ledger):
    """Apply a ledger to an older journal, twice."""
    assert "says rosa" in str(store.read())
    assert (ledger.apply(store), ledger.apply(store)) == (2, 0)
    assert "says rosa" not in str(
        store.read()
    )  # the name alone may stand in a mark by chance: its letters are hexadecimal
    assert {event.user for event in store.read()} == {None, "bob"}
    assert {id: key["revoked"] is not None for id, key in keys_of(store).items()} == {"old": False, "lost": True}
    with Advisor(store=store, parser="lexicon") as advisor:
        assert verify(advisor).agrees
        assert advisor.preference("bob").queries == 1
        with pytest.raises(UnknownUser):
            advisor.preference("rosa")


def test_an_older_journal_forgets_again(url, tmp_path):
    backup, ledger = lived(url, tmp_path)
    backup.put_back()
    with open_store(url) as store:
        check_again(store, Ledger(ledger.path))


def test_a_journal_from_an_export_forgets_again(url, tmp_path):
    _, ledger = lived(url, tmp_path)
    store = open_store("memory:")
    import_events(tmp_path / "journal.jsonl", store)
    check_again(store, ledger)


def test_another_journal_is_left_alone(url, tmp_path):
    """Its events have other marks, though its people may have the same places."""
    _, ledger = lived(url, tmp_path)
    with Advisor(INNS, parser="lexicon") as other:
        other.store.append([key_event("old"), key_event("other")])
        for user in ("rosa", "bob", "eve"):
            other.hear(user, "quiet")
        last = other.store.last()
        assert ledger.apply(other.store) == 0
        assert other.store.last() == last


def test_a_ledger_names_nobody_and_is_its_owners(url, tmp_path):
    _, ledger = lived(url, tmp_path)
    content = ledger.path.read_text()
    lines = [json.loads(line) for line in content.splitlines()]
    assert sorted("erased" in line for line in lines) == [False, True, True, True]
    assert not any(name in content for name in ("rosa", "eve", "new", "quiet"))
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600


def test_a_torn_line_is_passed_over(url, tmp_path):
    backup, ledger = lived(url, tmp_path)
    whole = ledger.path.read_bytes()
    backup.put_back()
    for torn in (whole + b'{"erased": 1', b"\xff\n[]\nnull\n{}\n" + whole):
        ledger.path.write_bytes(torn)
        with open_store(url) as store:
            again = Ledger(ledger.path)
            again.apply(store)
            again.follow(store)
            assert "says rosa" not in str(
                store.read()
            )  # the name alone may stand in a mark by chance: its letters are hexadecimal
        lines = ledger.path.read_bytes().splitlines()
        assert [line for line in whole.splitlines() if line not in lines] == []
        backup.put_back()


def test_a_ledger_that_cannot_be_written_is_told(tmp_path):
    with Advisor(INNS, parser="lexicon") as advisor:
        advisor.hear("rosa", ["quiet"])
        advisor.forget("rosa")
        ledger = Ledger(tmp_path / "nowhere" / "ledger")
        with pytest.raises(StoreFailure, match="a ledger must be writable"):
            ledger.follow(advisor.store)
        (tmp_path / "nowhere").mkdir()
        ledger.follow(advisor.store)
        assert ledger.path.read_text().count("erased") == 1
        (tmp_path / "folder").mkdir()
        with pytest.raises(StoreFailure, match="a ledger must be readable"):
            Ledger(tmp_path / "folder").apply(advisor.store)


def test_a_journal_in_sqlite_has_its_ledger_beside_it(tmp_path):
    with open_store(str(tmp_path / "inns.db")) as store:
        assert ledger_of(store).path == tmp_path / "inns.db-ledger"
        assert ledger_of(store, "elsewhere").path.name == "elsewhere"
    assert ledger_of(open_store("memory:")) is None


def test_keys_are_found_without_reading_the_journal(url, monkeypatch):
    with Advisor(INNS, store=url, parser="lexicon") as advisor:
        for number in range(30):
            advisor.hear(f"user-{number}", ["quiet"])
        advisor.store.append([key_event("one"), key_event("two"), key_event("one", events.REVOCATION)])
        seen = []
        read = advisor.store.read

        def counted(*given, **more):
            found = read(*given, **more)
            seen.extend(found)
            return found

        monkeypatch.setattr(advisor.store, "read", counted)
        assert [key["revoked"] is None for key in keys_of(advisor.store).values()] == [False, True]
        assert len(seen) == 3
        plan = "EXPLAIN QUERY PLAN " if url.startswith("sqlite") else "EXPLAIN "
        told = advisor.store._ask(f"{plan}SELECT * FROM druthers_events WHERE kind = 'key' ORDER BY position LIMIT 9")
        assert "druthers_events_of_kinds" in str(told)
