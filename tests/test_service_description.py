"""The service does what its description says, as schemathesis sees it, links between operations included."""

from __future__ import annotations

import subprocess
import sys

import pytest
from service_processes import Server, free_port

# A body that is too large is refused whatever is in it; that all actions are excluded, or that a catalog breaks a law,
# is more than a schema can forbid; and a key is shown whole where only its id is asked for elsewhere. A batch is done
# but for its malformed entries, each answered with its problem. A game takes a second.
CONFIG = """
request-timeout = 300
[checks.positive_data_acceptance]
expected-statuses = ["2xx", 404, 409, 413]
[checks.negative_data_rejection]
expected-statuses = [400, 404, 405, 409, 413, 415, 422]
[[operations]]
include-path = "/personalizer/v1.0/rank"
checks = { positive_data_acceptance = { expected-statuses = ["2xx", 404, 409, 413, 422] } }
[[operations]]
include-path = "/v1/catalog"
checks = { positive_data_acceptance = { expected-statuses = ["2xx", 404, 409, 413, 422] } }
[[operations]]
include-path = "/v1/operate/keys/{key}"
checks = { positive_data_acceptance = { expected-statuses = ["2xx", 404, 409, 413, 422] } }
[[operations]]
include-path-regex = "^/v1/batch/"
checks = { negative_data_rejection = { expected-statuses = [200, 400, 404, 405, 409, 413, 415, 422] } }
[[operations]]
include-path = "/v1/demo"
generation = { max-examples = 2 }
"""


@pytest.fixture(scope="module")
def server(forker, tmp_path_factory):
    folder = tmp_path_factory.mktemp("description")
    server = Server(forker, folder / "log", free_port())
    yield server.start(store=f"sqlite:{folder / 'journal.db'}", parser="lexicon", rate=0.0)
    server.kill()


def run(server, folder, *options):
    (folder / "schemathesis.toml").write_text(CONFIG)
    command = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()"]
    command += ["--config-file", str(folder / "schemathesis.toml"), "run", "--seed", "1", "--no-color", *options]
    command.append(f"http://localhost:{server.port}/openapi.json")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[:20_000]}\n{done.stderr}"
    paths = server.ask("GET", "/openapi.json")[1]["paths"]
    assert f"{sum(map(len, paths.values()))} selected" in done.stdout
    assert "API Links" in done.stdout
    assert "unexpected: " not in server.told(), server.told()


def test_the_description_is_true(server, tmp_path):
    run(server, tmp_path, "--phases", "fuzzing,stateful", "--max-examples", "2")


@pytest.mark.slow
def test_the_description_is_true_in_every_corner(server, tmp_path):
    run(server, tmp_path, "--phases", "examples,coverage,fuzzing,stateful", "--max-examples", "40")
