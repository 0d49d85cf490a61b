"""What people read and copy before they run the service: its page, the container files, the compose file."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import threading
import tomllib
from pathlib import Path

import pytest
import uvicorn
from rich.console import Console
from service_processes import free_port, until

from druthers.advisor import Advisor
from druthers.cli.chat import Talk
from druthers.service.app import make_app
from druthers.service.auth import ROLES
from druthers.service.settings import Settings, load_settings

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "service.md").read_text("utf-8")
RUNNING = (ROOT / "docs" / "operations.md").read_text("utf-8")
GUIDE = (ROOT / "docs" / "personalizer.md").read_text("utf-8")
RECIPE = (ROOT / "Containerfile").read_text("utf-8").replace("\\\n", " ")
IMAGE = re.compile(r"[a-z0-9-]+(:[a-z0-9.-]+)?")


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))


def instructions(word):
    """Return what follows an instruction of the container file, each time."""
    return [line.split(maxsplit=1)[1] for line in RECIPE.splitlines() if line.startswith(f"{word} ")]


@contextlib.contextmanager
def served():
    """Serve a small service; gives its port."""
    app = make_app(Settings(store="memory:", parser="lexicon"))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False, ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started and app.state.desk.can_read, "the service to be ready")
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def filled(environment):
    """Return an environment with its variables filled in."""
    return {name: re.sub(r"\$\{[^}]*\}", "secret", str(value)) for name, value in environment.items()}


def test_settings_in_examples_are_settings(tmp_path):
    files = [part for text in (PAGE, RUNNING, GUIDE) for part in re.findall(r"```toml\n(.*?)```", text, re.DOTALL)]
    assert len(files) == 3
    for content in files:
        (tmp_path / "druthers.toml").write_text(content)
        assert load_settings(tmp_path / "druthers.toml", environ={}).changed() == tomllib.loads(content)


def test_the_page_tells_every_role():
    assert set(re.findall(r"^\| `(read|decide|admin)` \|", PAGE, re.MULTILINE)) == set(ROLES[1:])


def test_the_lines_to_try_are_those_of_the_readme():
    lines = [line for line in PAGE.splitlines() if line.startswith("curl localhost:8000/v1/")]
    assert len(lines) == 3
    readme = (ROOT / "README.md").read_text("utf-8")
    for line in lines:
        assert line in readme
        words = shlex.split(line)
        if "--json" in words:
            json.loads(words[words.index("--json") + 1])


def test_the_container_runs_as_nobody_special_and_listens():
    assert instructions("FROM") == ["python:3.11-slim"]
    assert instructions("USER") == ["druthers"]
    assert RECIPE.index("USER ") < RECIPE.index("\nCMD ")
    assert instructions("CMD") == ['["druthers", "serve"]']
    told = load_settings(environ=dict(word.split("=", 1) for word in shlex.split(" ".join(instructions("ENV")))))
    assert told.keys_required
    assert instructions("EXPOSE") == [str(told.port)]
    assert told.store.removeprefix("sqlite:").startswith(tuple(shlex.split(" ".join(instructions("VOLUME")))))


def test_the_container_copies_files_that_are_there_and_installs_extras_that_are_there():
    for words in map(shlex.split, instructions("COPY")):
        assert all((ROOT / word).exists() for word in words[:-1])
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert {word for words in map(str.split, instructions("COPY")) for word in words[:-1]} == kept
    (extras,) = re.findall(r"'\.\[([\w,]+)\]'", RECIPE)
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(extras.split(",")) <= set(known)


def test_the_container_is_warmed_up_by_lines_that_chat_takes():
    """Each of them does something of its own, and the last one ends it."""
    (lines,) = re.findall(r"printf '([^']*)' \| druthers chat", RECIPE)
    with Advisor("hotels", parser="lexicon") as advisor:
        talk = Talk(advisor, "me", Console(file=io.StringIO()))
        kinds = []
        for line in lines.split("\\n")[:-1]:
            before = advisor.store.last()
            going = talk.take(line)
            kinds.append([event.kind for event in advisor.store.read(before)])
    assert [bool(new) for new in kinds] == [True, True, False, False]
    assert "decision" in kinds[0]
    assert "feedback" in kinds[1]
    assert not going


def test_the_health_check_asks_at_the_port_that_is_set():
    (check,) = re.findall(r"HEALTHCHECK .*CMD (\[.*\])", RECIPE)
    python, option, code = json.loads(check)
    assert (python, option) == ("python", "-c")
    with served() as port, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DRUTHERS_PORT", str(port))
        exec(code, {})
        patch.setenv("DRUTHERS_PORT", str(free_port()))
        with pytest.raises(OSError, match="refused"):
            exec(code, {})


def test_the_replicas_share_one_database_at_ports_of_their_own(compose):
    services = compose["services"]
    replicas = [service for name, service in services.items() if name != "database"]
    assert len(replicas) == 2
    ports = set()
    for replica in replicas:
        told = load_settings(environ=filled(replica["environment"]))
        assert told.store == "postgresql://druthers@database/druthers"
        assert replica["environment"]["PGPASSWORD"] == services["database"]["environment"]["POSTGRES_PASSWORD"]
        assert "PGSSLMODE" in replica["environment"]
        assert replica["build"] == {"context": ".", "dockerfile": "Containerfile"}
        assert replica["depends_on"]["database"]["condition"] == "service_healthy"
        ((address, outside, inside),) = [port.split(":") for port in replica["ports"]]
        assert (address, inside) == ("127.0.0.1", instructions("EXPOSE")[0])
        ports.add(outside)
    assert len(ports) == 2
    database = filled(services["database"]["environment"])
    assert (database["POSTGRES_USER"], database["POSTGRES_DB"]) == ("druthers", "druthers")
    assert "healthcheck" in services["database"]


def test_containers_may_do_no_more_than_they_must(compose):
    written = {path for words in map(shlex.split, instructions("VOLUME")) for path in words}
    for name, service in compose["services"].items():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert {"mem_limit", "cpus", "pids_limit"} <= set(service)
        assert (name == "database") == ("ports" not in service)
        assert "journal" in service["networks"]
        if name != "database":  # what the image writes is a volume, but the journal, which is in the database
            mounted = {volume.split(":")[1] for volume in service["volumes"]}
            assert written - mounted == {"/var/lib/druthers"}
    assert compose["networks"]["journal"] == {"internal": True}


def test_no_page_shows_a_password_on_a_command_line():
    pages = [path.read_text("utf-8") for path in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]]
    for page in pages:
        for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL):
            assert not re.search(r"://[^\s/@]+:[^\s/@]+@", block), block


def test_images_have_bare_names_and_volumes_are_declared(compose):
    for service in compose["services"].values():
        assert IMAGE.fullmatch(service["image"])
        for volume in service.get("volumes", ()):
            assert volume.split(":")[0] in compose["volumes"]
    assert all(IMAGE.fullmatch(image) for image in instructions("FROM"))
