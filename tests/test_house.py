"""The house stays one that can be read: short files, short functions, and a short way from a request to its answer."""

from __future__ import annotations

import ast
import threading
import time
from pathlib import Path

import pytest
from conftest import TURNS
from starlette.testclient import TestClient

import druthers
from druthers.service.app import make_app
from druthers.service.settings import Settings

ROOT = Path(druthers.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py"))


def test_no_file_is_longer_than_400_lines():
    assert not {str(path): n for path in FILES if (n := len(path.read_text("utf-8").splitlines())) > 400}


def test_a_function_is_longer_than_60_lines_only_for_a_reason():
    bare = []
    for path in FILES:
        text = path.read_text("utf-8")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno - node.lineno >= 60:
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                if not lines[first - 2].strip().startswith("# Over sixty lines"):
                    bare.append(f"{path}:{node.lineno} {node.name}")
    assert not bare


def test_no_kernel_takes_more_than_eight_arguments():
    long = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and {"kernel", "generic"} & {
                name.id for one in node.decorator_list for name in ast.walk(one) if isinstance(name, ast.Name)
            }:
                long += [f"{path}:{node.lineno} {node.name}"] if len(node.args.args) > 8 else []
    assert not long


def test_what_runs_first_is_there():
    assert not [name for name in TURNS if not Path(__file__).with_name(f"{name}.py").exists()]


@pytest.fixture
def passed():
    """The files that run, by thread and name, as soon as somebody asks for them."""
    seen: set[str] = set()

    def note(frame, event, _):
        if event == "call" and (path := Path(frame.f_code.co_filename)).is_relative_to(ROOT):
            seen.add(path.relative_to(ROOT).as_posix())

    threading.setprofile(note)
    yield seen
    threading.setprofile(None)


def test_a_decision_walks_through_at_most_20_files(passed, tmp_path):
    """From the route to the door of the policy, which counts as one, into the journal and back."""
    settings = Settings(store=f"sqlite:{tmp_path / 'a.db'}", catalog="hotels", parser="lexicon", follow_seconds=60.0)
    with TestClient(make_app(settings), base_url="http://localhost", client=("127.0.0.1", 5)) as client:
        while client.get("/readyz").status_code != 200:
            time.sleep(0.05)
        client.post("/v1/users/ada/queries", json={"ranking": ["cleanliness"]})
        client.post("/v1/users/ada/decisions", json={})
        passed.clear()
        assert client.post("/v1/users/ada/decisions", json={}).status_code == 200
        inside = ("policies/", "beliefs/", "_")
        walk = {"policies/choosing.py", *(name for name in passed if not name.startswith(inside))}
    assert len(walk) <= 20, sorted(walk)
    assert {"service/routes.py", "advisor/operations.py", "advisor/fold.py", "stores/sqlite.py"} <= walk
