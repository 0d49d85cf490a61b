"""What several test modules start from."""

from __future__ import annotations

import sys

import pytest
from servers import Server

from druthers.__main__ import main


@pytest.fixture
def serve():
    servers = []

    def start(script):
        servers.append(Server(script))
        return servers[-1]

    yield start
    for server in servers:
        server.released.set()
        server.kill()


@pytest.fixture
def druthers(request, tmp_path, monkeypatch, capsys):
    """Return what runs a command beside tiny.toml, the asking module's TINY: its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "tiny.toml").write_text(request.module.TINY)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["druthers", *words])
        with pytest.raises(SystemExit) as leaving:
            main()
        printed = capsys.readouterr()
        return leaving.value.code or 0, printed.out, printed.err

    return call
