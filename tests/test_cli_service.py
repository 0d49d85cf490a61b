"""The commands around a journal: keys come and go, journals are checked, moved and turned into logs."""

import json
import socket

import pytest
from backups import rewrite
from typer.testing import CliRunner

from druthers.advisor import Advisor
from druthers.catalogs import Item
from druthers.cli import app
from druthers.errors import InvalidEvent, InvalidSetting, StoreFailure
from druthers.logs import read_log
from druthers.service.auth import digest
from druthers.stores import SQLiteStore


@pytest.fixture
def run(tmp_path):
    where = f"sqlite:{tmp_path / 'journal.db'}"
    with Advisor("hotels", store=where, parser="lexicon") as advisor:
        advisor.feedback(advisor.recommend("ada", text="clean").id, utility=0.5)

    def call(*words, store=where):
        result = CliRunner().invoke(app, [*words, "--store", store])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.output

    return call


def test_keys_are_made_listed_and_revoked(run, tmp_path):
    key = run("keys", "create", "decide", "--name", "web shop").strip()
    id = key.split("_")[1]
    (line,) = [line for line in run("keys", "list").splitlines() if id in line]
    assert "decide" in line
    assert "web shop" in line
    with Advisor(store=f"sqlite:{tmp_path / 'journal.db'}", parser="lexicon") as advisor:
        assert advisor.fold.keys[id]["digest"] == digest(key.encode())
        assert advisor.fold.keys[id]["revoked"] is None
        run("keys", "revoke", id)
        advisor.catch_up()
        assert advisor.fold.keys[id]["revoked"] is not None
    (revoked,) = [line for line in run("keys", "list").splitlines() if id in line]
    assert len(revoked.split()) > len(line.split())
    with pytest.raises(InvalidSetting, match="must exist to be revoked"):
        run("keys", "revoke", "nobody")


def test_keys_are_found_without_reading_everything(run, monkeypatch):
    read, kinds = SQLiteStore.read, set()

    def note(store, *given, **options):
        found = read(store, *given, **options)
        kinds.update(event.kind for event in found)
        return found

    key = run("keys", "create", "read").strip()
    monkeypatch.setattr(SQLiteStore, "read", note)
    run("keys", "list")
    run("keys", "revoke", key.split("_")[1])
    assert kinds == {"key", "revocation"}


def test_a_journal_is_checked_moved_and_turned_into_a_log(run, tmp_path):
    facts = json.loads(run("store", "verify", "--json"))
    assert facts["agrees"]
    assert facts["kinds"]["feedback"] == 1
    file, other = str(tmp_path / "backup.jsonl.gz"), f"sqlite:{tmp_path / 'other.db'}"
    assert f"{facts['events']} events" in run("store", "export", file)
    run("store", "import", file, store=other)
    assert json.loads(run("store", "verify", "--json", store=other)) == facts
    run("store", "compact")
    assert json.loads(run("store", "verify", "--json"))["digest"] == facts["digest"]
    run("store", "migrate")
    run("store", "log", str(tmp_path / "log.parquet"))
    assert read_log(tmp_path / "log.parquet").utilities.tolist() == [0.5]
    with pytest.raises(StoreFailure, match="must be there"):
        run("store", "verify", store=f"sqlite:{tmp_path / 'missing.db'}")


def test_an_import_that_is_refused_leaves_no_journal_behind(run, tmp_path):
    (tmp_path / "table.csv").write_text("name,price\nx,3\n")
    with pytest.raises(InvalidEvent, match="every line of a journal must be"):
        run("store", "import", str(tmp_path / "table.csv"), store=f"sqlite:{tmp_path / 'new.db'}")
    assert not list(tmp_path.glob("new.db*"))


def test_damage_is_told_and_the_remedy_does_not_hide_it(run, tmp_path):
    where = f"sqlite:{tmp_path / 'journal.db'}"
    with Advisor(store=where, parser="lexicon") as advisor:
        advisor.save()
        position = advisor.store.last()
    rewrite(where, "UPDATE druthers_events SET body = replace(body, '0.5', '0.9') WHERE position = ?", position)
    for _ in range(2):
        result = CliRunner().invoke(app, ["store", "verify", "--json", "--store", where])
        assert result.exit_code == 1
        told = f"event {position}, a 'feedback', is not as it was written"
        assert json.loads(result.output) == {"damage": [told], "agrees": False}
        result = CliRunner().invoke(app, ["store", "verify", "--store", where])
        assert (result.exit_code, told in " ".join(result.output.split())) == (1, True)
        assert "bring back a backup" in result.output
        run("store", "compact")
        run("store", "compact", "--drop-states")
        run("store", "migrate")


def test_states_that_do_not_agree_are_told_and_dropped(run, tmp_path):
    where = f"sqlite:{tmp_path / 'journal.db'}"
    with Advisor(store=where, parser="lexicon") as advisor:
        advisor.save()
        snapshot = advisor.store.snapshot(advisor.fold.name)
        advisor.hear("bob", "clean")
        advisor.put_item(Item("inn"))
        advisor.save()
        name, last = advisor.fold.name, advisor.store.last()
    rewrite(where, "UPDATE druthers_snapshots SET body = ? WHERE fold = ?", snapshot.body, name)
    result = CliRunner().invoke(app, ["store", "verify", "--store", where])
    assert result.exit_code == 1
    assert "compact --drop-states" in " ".join(result.output.split())
    run("store", "compact", "--drop-states")
    assert f"{last} events" in " ".join(run("store", "verify").split())


def test_compacting_keeps_what_was_saved_last(run, tmp_path):
    where = f"sqlite:{tmp_path / 'journal.db'}"
    with Advisor(store=where, parser="lexicon", policy="s-ucb") as old:
        old.save()
    with Advisor(store=where, parser="lexicon") as new:
        new.hear("bob", "clean")
        new.save()
        assert len(new.store.folds()) == 2
        run("store", "compact")
        assert new.store.folds() == [new.fold.name]


def test_an_address_that_is_taken_is_refused_before_a_journal_is_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = CliRunner().invoke(app, ["serve", "--port", str(taken.getsockname()[1])])
    assert isinstance(done.exception, InvalidSetting)
    assert "address of its own" in str(done.exception)
    assert list(tmp_path.iterdir()) == []
