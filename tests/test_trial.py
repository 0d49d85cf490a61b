"""Tried as a new user would: two commands make a table of hotels a service that understands limits, as the docs say."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from service_processes import Server, free_port, until
from shops import write_hotels

PAGE = (Path(__file__).parents[1] / "docs" / "catalogs.md").read_text("utf-8")
SECTION = PAGE.partition("## From a table\n")[2].partition("\n## ")[0]
START = 600  # seconds in which a first start may compile, on a machine with other work


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", SECTION, re.M | re.S)


def druthers(*words, cwd, **environment):
    command = [sys.executable, "-m", "druthers", *words]
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@contextmanager
def serving(folder, *words):
    """Serve as the command line does; the log goes to a file."""
    server = Server(None, folder / "serve.log", free_port())
    command = [sys.executable, "-m", "druthers", "serve", *words, "--port", str(server.port)]
    with (folder / "serve.log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        until(lambda: server.ready() or process.poll() is not None, "the service to be ready", START)
        assert process.poll() is None, server.told()
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(START)


def test_the_table_on_the_page_is_the_one_that_is_built(tmp_path):
    write_hotels(tmp_path / "hotels.csv")
    first = "".join((tmp_path / "hotels.csv").read_text("utf-8").splitlines(keepends=True)[:3])
    assert blocks("text")[0] == first
    command, _, told = blocks("console")[0].partition("\n")
    assert command == "$ druthers catalog build hotels.csv"
    assert druthers("catalog", "build", "hotels.csv", cwd=tmp_path) == (0, told, "")
    words = blocks("console")[2].split()[2:]
    assert druthers(*words, cwd=tmp_path)[0] == 0
    few = json.loads((tmp_path / "few.json").read_text("utf-8"))
    assert [one["name"] for one in few["objectives"]] == ["price", "rating", "distance"]


@pytest.mark.slow
def test_two_commands_make_a_service(tmp_path, capsys):
    table = write_hotels(tmp_path / "hotels.csv")
    assert druthers("catalog", "build", "hotels.csv", cwd=tmp_path)[0] == 0
    assert blocks("console")[1] == "$ druthers serve --catalog hotels.json\n"
    with serving(tmp_path, "--catalog", "hotels.json") as server:
        exec(blocks("py")[0].replace(":8000", f":{server.port}"), {})
        assert capsys.readouterr().out == blocks("text")[1]
        made = server.ask(
            "POST", "/v1/users/eve/decisions", {"text": "in Vienna, at most 120 euros, quiet", "size": 3}
        )[1]
        rows = {row["hotel_id"]: row for row in csv.DictReader(table.read_text(encoding="utf-8").splitlines())}
        fitting = [
            row
            for row in rows.values()
            if row["city"] == "Vienna" and row["price_eur"] and int(row["price_eur"]) <= 120
        ]
        quiet = sorted(int(row["noise_db"]) for row in fitting)
        noise = [int(rows[one["item"]]["noise_db"]) for one in made["items"]]
        assert all(rows[one["item"]] in fitting for one in made["items"])
        assert noise[0] <= quiet[len(quiet) // 20]  # of the quietest twentieth, and all of the quietest tenth
        assert max(noise) <= quiet[len(quiet) // 10]
        _tomorrow(tmp_path, server)


def _tomorrow(folder, server):
    """Change a price, take a house out, add one, and bring that into the running service; then widen a range."""
    where = f"http://127.0.0.1:{server.port}"
    lines = (folder / "hotels.csv").read_text("utf-8").splitlines()
    changed = [line.replace(",128,", ",99,", 1) if line.startswith("h0000") else line for line in lines]
    changed = [line for line in changed if not line.startswith("h0003")]
    changed.append("h9999,New House,Vienna,hotel,70,1.0,28,,0,3,yes,wifi,2024-01-15")
    (folder / "tonight.csv").write_text("\n".join(changed), "utf-8")
    assert druthers("catalog", "build", "tonight.csv", "--like", "hotels.json", cwd=folder)[0] == 0
    told = "1 item is new: h9999\n1 item is changed: h0000 (values)\n1 item is taken out: h0003\n"
    look = druthers("catalog", "diff", where, "tonight.json", "--retire", cwd=folder)
    assert look[1] == told + "nothing is changed; druthers catalog apply does it\n"
    assert server.ask("GET", "/v1/items/h0000")[1]["values"]["price"] == 128
    assert druthers("catalog", "apply", "tonight.json", "--to", where, "--retire", cwd=folder)[1] == told + "changed\n"
    assert server.ask("GET", "/v1/items/h0000")[1]["values"]["price"] == 99
    assert server.ask("GET", "/v1/items/h0003")[0] == 404
    assert server.ask("GET", "/v1/items/h9999")[0] == 200
    wider = (folder / "tonight.json").read_text("utf-8").replace('"high": 400.0', '"high": 500.0', 1)
    (folder / "wider.json").write_text(wider, "utf-8")
    code, lines, _ = druthers("catalog", "apply", "wider.json", "--to", where, cwd=folder)
    assert (code, lines.splitlines()[0]) == (0, "objective 'price': high 400.0 becomes 500.0")
    assert server.ask("GET", "/v1/catalog")[1]["number"] == 1
    assert druthers("catalog", "diff", where, "wider.json", cwd=folder)[1] == "nothing differs\n"
    code, _, why = druthers("catalog", "diff", "http://127.0.0.1:9", "wider.json", cwd=folder)
    assert (code, "a service must answer at its address" in why) == (2, True)


@pytest.mark.slow
def test_only_an_admin_changes_a_running_service(tmp_path):
    write_hotels(tmp_path / "hotels.csv", 60)
    druthers("catalog", "build", "hotels.csv", cwd=tmp_path)
    with serving(tmp_path, "--catalog", "hotels.json", "--keys", "required") as server:
        where = f"http://127.0.0.1:{server.port}"
        reader, admin = (druthers("keys", "create", role, cwd=tmp_path)[1].strip() for role in ("read", "admin"))
        until(
            lambda: server.ask("GET", "/v1/catalog", Authorization=f"Bearer {admin}")[0] == 200, "the keys to be known"
        )
        content = json.loads((tmp_path / "hotels.json").read_text("utf-8"))
        (tmp_path / "less.json").write_text(json.dumps({**content, "items": content["items"][:-1]}), "utf-8")
        change = ("catalog", "apply", "less.json", "--to", where, "--retire")
        for key in ("", "nonsense", reader):
            code, _, why = druthers(*change, cwd=tmp_path, DRUTHERS_KEY=key)
            assert (code, "--key or DRUTHERS_KEY" in why) == (2, True)
        code, told, _ = druthers(*change, "--key", admin, cwd=tmp_path)
        assert (code, told.splitlines()[0]) == (0, "1 item is taken out: h0059")
