"""The commands of the service: serve, keys, store."""

import contextlib
import json
import socket
import threading
import time
import webbrowser
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from druthers.advisor import Advisor, events
from druthers.advisor import verify as check
from druthers.advisor.advisor import POLICY
from druthers.advisor.history import to_log
from druthers.advisor.ledger import keys_of, ledger_of
from druthers.cli import options
from druthers.cli.options import argument, flag, option
from druthers.errors import InvalidSetting, needs
from druthers.logs import write_log
from druthers.stores import inspect, open_store
from druthers.stores.moving import export_events, import_events
from druthers.terminal import make_console, table_of

app = typer.Typer()
keys_app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
store_app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")

DEFAULT_STORE = "sqlite:druthers.db"
MOST_DAMAGE = 50
DEMO = {"store": "memory:", "catalog": "hotels", "host": "127.0.0.1", "keys": "off", "workers": 1, "exploration": 0.05}
At = Annotated[str, option("WHERE", "`sqlite:FILE` or `postgresql://HOST/NAME`.", "--store", envvar="DRUTHERS_STORE")]
Policy = Annotated[str, option("NAME", "The policy that the states are of; your own as FILE.py:Class.")]


@app.command()
def serve(
    config: Annotated[Path | None, option("FILE", "Settings in TOML; docs/operations.md lists all of them.")] = None,
    store: Annotated[
        str | None, option("WHERE", "The journal: `sqlite:FILE`, `postgresql://...` or `memory:`.")
    ] = None,
    catalog: Annotated[
        str | None, option("NAME|FILE", "What a new journal is about: `hotels`, `beers`, or a file.")
    ] = None,
    policy: Annotated[str | None, option("NAME", "How to choose; your own as FILE.py:Class.")] = None,
    parser: Annotated[str | None, option("NAME", "How to read sentences.")] = None,
    host: Annotated[str | None, option("ADDRESS", "Where to listen.")] = None,
    port: Annotated[int | None, option("N", "At which port.")] = None,
    workers: Annotated[int | None, option("N", "How many processes.")] = None,
    keys: Annotated[str | None, option("WHEN", "API keys: `required`, `off` or `auto` (off on loopback only).")] = None,
    exploration: Annotated[
        float | None, option("SHARE", "Share of decisions left to chance, to learn from the log.")
    ] = None,
    demo: Annotated[
        bool, flag("Try it: invented hotels, a journal in memory, no key, some exploration.", "--demo")
    ] = False,
    show: Annotated[bool, flag("Open the page in a browser as soon as it is there.", "--open")] = False,
) -> None:
    """Serve recommendations over HTTP, with no other program needed: the journal is a file beside you.

    Settings come from a file, then from variables such as `DRUTHERS_PORT`, then from these options. A journal that is
    there knows its catalog. The first start on a machine compiles for a minute. A page at `/` lets you talk to it
    and look after it; the API describes itself at `/docs`.

        druthers serve --demo --open
        druthers serve
        druthers serve --catalog inns.toml --store postgresql://localhost/inns --host 0.0.0.0
    """
    needs("fastapi", "service", load=False)
    from druthers.service.app import serve as run
    from druthers.service.settings import load_settings

    given: dict[str, Any] = {"store": store, "catalog": catalog, "policy": policy, "parser": parser, "keys": keys}
    given |= {"host": host, "port": port, "workers": workers, "exploration": exploration}
    if demo:
        given |= {name: value for name, value in DEMO.items() if given[name] is None}
    settings = load_settings(config, **given)
    if show:
        threading.Thread(target=_open_page, args=(settings.host, settings.port), daemon=True).start()
    run(settings)


def _open_page(host: str, port: int) -> None:
    """Open the page in a browser as soon as somebody listens there; nobody waits for it."""
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    while True:
        with contextlib.suppress(OSError), socket.create_connection((here, port), timeout=1):
            break
        time.sleep(0.2)
    webbrowser.open(f"http://{f'[{here}]' if ':' in here else here}:{port}/")


@keys_app.command("create")
def create_key(
    role: Annotated[str, argument("ROLE", "`read`, `decide` or `admin`.")],
    name: Annotated[str, option("TEXT", "What it is for.")] = "",
    store: At = DEFAULT_STORE,
) -> None:
    """Make an API key and show it, once: only its hash is kept.

    A running service knows it
    within a second.

        druthers keys create decide --name "web shop"
    """
    needs("fastapi", "service", load=False)
    from druthers.service.auth import key_event, make_key

    text, key = make_key(role, name)
    with open_store(store, create=False) as journal:
        journal.append([key_event(key)])
    print(text)


@keys_app.command("list")
def list_keys(store: At = DEFAULT_STORE) -> None:
    """List the keys: what each is for, its role, when it was made and revoked.

    The keys themselves are shown only when they are made.
    """
    table = table_of("id", "role", "name", "created", "revoked", left=5)
    with open_store(store, create=False) as journal:
        for key in keys_of(journal).values():
            table.add_row(key["id"], key["role"], key["name"], _day(key["created"]), _day(key["revoked"]))
    make_console().print(table)


@keys_app.command("revoke")
def revoke_key(
    id: Annotated[str, argument("ID", "As `druthers keys list` shows it.")],
    store: At = DEFAULT_STORE,
    ledger_file: Annotated[
        str, option("FILE", "Where the service notes revocations.", "--ledger", envvar="DRUTHERS_LEDGER")
    ] = "",
) -> None:
    """Revoke a key; a running service refuses it within a second."""
    with open_store(store, create=False) as journal:
        if id not in keys_of(journal):
            raise InvalidSetting(f"a key must exist to be revoked, but {id!r} does not; see druthers keys list")
        journal.append([events.make(events.REVOCATION, {"id": id})])
        ledger = ledger_of(journal, ledger_file)
        if ledger is not None:
            ledger.follow(journal)


@store_app.command()
def migrate(store: At = DEFAULT_STORE) -> None:
    """Bring a journal of an older version of druthers to this one."""
    open_store(store, migrate=True, create=False).close()
    print("the journal is of this version")


@store_app.command()
def verify(
    store: At = DEFAULT_STORE,
    policy: Policy = "",
    as_json: options.AsJson = False,
) -> None:
    """Check a journal: that its file and every event are whole, and that saved states give the same bits as all events.

    Leaves with 1 if they do not. The service may go on meanwhile.
    """
    with open_store(store, create=False) as journal:
        damage = inspect(journal)
        if damage:
            _tell_damage(damage, as_json)
            raise typer.Exit(1)
        found = check(Advisor(None, store=journal, policy=policy or POLICY, parser="lexicon"))
    if as_json:
        facts: dict[str, Any] = {"damage": [], "events": found.events, "kinds": found.kinds, "users": found.users}
        print(json.dumps({**facts, "items": found.items, "digest": found.digest, "agrees": found.agrees}))
    else:
        console = make_console()
        for kind, count in sorted(found.kinds.items()):
            console.print(f"{count:>10,}  {kind}")
        console.print(f"{found.events:>10,}  events, {found.users:,} users, {found.items:,} items")
        console.print("every event is as it was written")
        remedy = "stop the service, drop them with druthers store compact --drop-states, and start it again"
        verdict = "[green]agree[/]" if found.agrees else f"[red]do not agree: {remedy}[/]"
        console.print(f"saved states and journal {verdict}")
    if not found.agrees:
        raise typer.Exit(1)


def _tell_damage(damage: list[str], as_json: bool) -> None:
    """Tell where a journal is damaged, and what to do."""
    if as_json:
        print(json.dumps({"damage": damage, "agrees": False}))
        return
    console = make_console()
    for line in damage[:MOST_DAMAGE]:
        console.print(f"[red]{escape(line)}[/]")
    if len(damage) > MOST_DAMAGE:
        console.print(f"[red]and {len(damage) - MOST_DAMAGE:,} more[/]")
    console.print("the journal is damaged: keep a copy of it, bring back a backup, see docs/stores.md on damage")


@store_app.command("export")
def export_journal(
    file: Annotated[Path, argument("FILE", "JSON lines; packed if the name ends in .gz.")],
    store: At = DEFAULT_STORE,
) -> None:
    """Write the whole journal to a file: a backup, while the service runs."""
    with open_store(store, create=False) as journal:
        print(f"{export_events(journal, file):,} events written to {file}")


@store_app.command("log")
def write_decisions(
    file: Annotated[Path, argument("FILE", "A Parquet file.")],
    store: At = DEFAULT_STORE,
) -> None:
    """Write the decisions as a log for `druthers evaluate`: what would another policy have brought?

    That can be told only if the service left some decisions to chance: `druthers serve --exploration 0.05`.
    """
    with open_store(store, create=False) as journal:
        log = to_log(journal)
    write_log(log, file)
    print(f"{log} written to {file}")


@store_app.command("import")
def import_journal(
    file: Annotated[Path, argument("FILE", "As `druthers store export` wrote it.")],
    store: At = DEFAULT_STORE,
) -> None:
    """Fill an empty journal from a file."""
    print(f"{import_events(file, store):,} events read from {file}")


@store_app.command()
def compact(
    store: At = DEFAULT_STORE,
    drop_states: Annotated[
        bool, flag("Drop all saved states; stop the service first, it folds them anew.", "--drop-states")
    ] = False,
) -> None:
    """Remove every byte that is no longer needed: of the erased, of old states, of unused space.

    The service may go on, and keeps the states that it saved last; while this runs it cannot write, and says so.
    """
    with open_store(store, create=False) as journal:
        newest = next(iter(journal.folds()), None)
        journal.compact(None if drop_states else newest)
    print("what was erased is gone from the files, old states are dropped, unused space is given back")


def _day(moment: float | None) -> str:
    return "" if moment is None else datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M")
