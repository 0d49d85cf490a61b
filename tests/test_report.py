"""Figures and the page, of small results made by hand."""

import dataclasses
import html.parser
import json
import re
import tomllib
import zlib

import numpy as np
import pytest

from druthers.drafts import to_toml
from druthers.experiments import Experiment, Results, load_experiment
from druthers.policies import POLICIES
from druthers.report import draw_figures, write_report
from druthers.report.curves import draw_regret
from druthers.report.layout import axis_of, panels_of, spread_out
from druthers.report.page import content_of, rounded
from druthers.report.shares import draw_shares
from druthers.report.styles import styles_of
from druthers.simulation import Run

EVIL = "</script><script>alert(1)</script>"
LEARNERS = ("mo-pqucb", "prucb")


def results_of(policies, runs=3, horizon=40, data=None, **more):
    """Return made-up results: regret grows like a power that the label decides, some policies learn preferences."""
    experiment = Experiment(
        name="made-up", environment={"name": "synthetic"}, policies=policies, runs=runs, horizon=horizon, **more
    )
    played, seconds = {}, {}
    for row in experiment.rows():
        rng = np.random.default_rng(zlib.crc32(row.label.encode()))
        rounds = np.unique(np.geomspace(1, row.horizon, 15).round().astype(np.int64))
        power = rng.uniform(0.3, 0.9)
        played[row.label] = []
        for _ in range(runs):
            error = 2 * np.exp(-rounds / row.horizon) + rng.random(len(rounds)) / 10
            if row.policy not in LEARNERS:
                error = np.full(len(rounds), np.nan)
            regret = (3 + rng.random()) * rounds**power
            played[row.label].append(Run(rounds, regret, error, 2 * error, rng.integers(1, 99, 12)))
        seconds[row.label] = [row.horizon * 1e-5] * runs
    return Results(experiment, played, seconds, data)


@pytest.fixture(scope="module")
def plain():
    return results_of({"mo-pqucb": {}, "s-ucb": {"width": 0.5}, "prucb": {}, EVIL: {"policy": "s-moss"}}, data="a <b>")


def page_of(results, tmp_path):
    path = tmp_path / "deep" / "page.html"
    write_report(results, path)
    text = path.read_text("utf-8")
    found = re.search(r'<script type="application/json" id="content">(.*?)</script>', text, re.DOTALL)
    return text, json.loads(found[1])


def names_of(paths):
    return {path.name for path in paths}


class TestStyles:
    def test_all_policies_look_different(self):
        styles = styles_of([*POLICIES, "mo-pqucb-tuned", *(f"mine-{k}" for k in range(200))])
        assert len({(style.color, style.dash, style.marker) for style in styles.values()}) == len(styles)
        assert len({(style.dark, style.dash, style.marker) for style in styles.values()}) == len(styles)

    def test_known_policies_differ_without_their_markers(self):
        styles = styles_of(POLICIES)
        for mine, own in (("fisher-pqucb", {"fisher-pqucb", "fisher-ucb"}), ("fisher-pqucb-robust", set())):
            assert styles[mine].dash == ()  # what is recommended is found at once
            assert {name for name in styles if styles[name].color == styles[mine].color} == own | {mine}
        assert len({(style.color, style.dash) for style in styles.values()}) == len(POLICIES)

    def test_a_style_does_not_depend_on_company_or_order(self):
        alone = {label: styles_of([label])[label] for label in ("s-ucb", "mo-pqucb-tuned", "anything")}
        assert styles_of(["anything", "oracle", "mo-pqucb-tuned", "s-ucb"]).items() >= alone.items()

    def test_other_labels_keep_their_style_for_good(self):
        style = styles_of(["mo-pqucb-tuned"])["mo-pqucb-tuned"]
        assert style == ("#8C510A", "#CF9450", (4.0, 1.6), "v")


class TestLayout:
    def test_rows_that_nothing_concerns_are_in_every_panel(self):
        results = results_of({"s-ucb": {}, "prucb": {}}, vary={"policies.s-ucb.width": [0.5, 1.0]})
        panels = panels_of(results)
        assert [panel.title for panel in panels] == ["width = 0.5", "width = 1"]
        assert all("prucb" in panel.labels and len(panel.labels) == 2 for panel in panels)

    @pytest.mark.parametrize(
        ("values", "kind"),
        [
            ([1, 5, 10, 20], "linear"),
            ([0, 0.13, 0.2, 0.3, 0.5], "linear"),
            ([0.01, 0.1, 1.0], "log"),
            ([0, 0.001, 0.01, 1.0], "even"),
            ([True, False], "even"),
            (["likelihood", {"name": "group-lasso", "penalty": 0.5}], "even"),
        ],
    )
    def test_values_find_their_axis(self, values, kind):
        key = "anchor" if isinstance(values[0], str) else "corruption" if values[0] is not True else "unseen_first"
        results = results_of({"mo-pqucb": {}}, runs=1, vary={f"policies.mo-pqucb.{key}": values})
        axis = axis_of(results, key)
        assert axis.kind == kind
        places = axis.places(axis.values)
        assert places == sorted(places)
        assert len(set(places)) == len(values)

    def test_labels_keep_their_distance(self):
        wanted = [0.1, 0.1, 0.12, 0.9, 0.99, 1.0]
        places = spread_out(wanted, 0.1, 0.0, 1.0)
        assert np.diff(places).min() > 0.1 - 1e-9
        assert 0 <= min(places) <= max(places) <= 1 + 1e-9
        assert spread_out([0.2, 0.8], 0.1, 0.0, 1.0) == pytest.approx([0.2, 0.8])


class TestFigures:
    def test_all_formats_with_the_same_bytes_again(self, plain, tmp_path, monkeypatch):
        first = draw_figures(plain, tmp_path / "a")
        names = {"regret", "regret-loglog", "preference-error", "arm-shares"}
        assert names_of(first) == {f"{name}.{kind}" for name in names for kind in ("pdf", "svg", "png")}
        assert names_of((tmp_path / "a").iterdir()) == names_of(first)
        monkeypatch.setattr("druthers.report.figures.FIGURES", {"regret": draw_regret, "arm-shares": draw_shares})
        for again in draw_figures(plain, tmp_path / "b"):
            assert again.read_bytes() == (tmp_path / "a" / again.name).read_bytes()
        regret = (tmp_path / "a" / "regret.svg").read_text()
        assert ">mo-pqucb<" in regret  # text stays text
        assert "<script" not in regret
        assert b"/Type0" in (tmp_path / "a" / "regret.pdf").read_bytes()  # TrueType, not Type 3

    def test_what_is_varied_has_a_figure(self, tmp_path):
        results = results_of({"mo-pqucb": {}, "s-ucb": {}}, vary={"environment.length": [1, 5]}, figure="varied")
        paths = draw_figures(results, tmp_path, formats=("svg",))
        assert names_of(paths) == {
            "regret.svg",
            "regret-loglog.svg",
            "preference-error.svg",
            "arm-shares.svg",
            "varied.svg",
        }
        assert ">length = 5<" in (tmp_path / "regret.svg").read_text()

    @pytest.mark.parametrize(
        "more",
        [
            {"vary": {"environment.length": [1, 5, 9], "policies.*.exploration": [0.0, 0.1, 0.2, 0.3]}},
            {"vary": {"policies.*.exploration": {"low": 0.01, "high": 0.9}, "horizon": [9, 40]}, "samples": 12},
            {"vary": {"horizon": [10, 400]}},
        ],
    )
    def test_grids_random_draws_and_horizons_are_drawn(self, more, tmp_path):
        results = results_of({"prucb": {}, "s-ucb": {}}, runs=2, **more)
        assert len(draw_figures(results, tmp_path, formats=("svg",))) == 5

    def test_a_single_run_without_any_preference_is_drawn(self, tmp_path):
        results = results_of({"s-ucb": {}, "$x_1$ \\frac": {"policy": "s-moss"}}, runs=1)
        paths = draw_figures(results, tmp_path, formats=("svg",))
        assert names_of(paths) == {"regret.svg", "regret-loglog.svg", "arm-shares.svg"}


class Outline(html.parser.HTMLParser):
    """The elements of a page and what they point to."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.addresses = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href", "srcset", "action", "data")]


class TestPage:
    def test_it_needs_nothing_from_outside(self, plain, tmp_path):
        text, _ = page_of([plain], tmp_path)
        assert Outline(text).addresses == ["data:,"]
        addresses = set(re.findall(r"https?://[^\s\"'<>]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg", "https://github.com/leeoniya/uPlot"}  # names, not loaded
        for word in ("url(", "@import", "fetch(", "XMLHttpRequest", "WebSocket", "import(", "innerHTML"):
            assert word not in text

    def test_labels_cannot_become_markup(self, plain, tmp_path):
        text, content = page_of([plain], tmp_path)
        assert Outline(text).tags.count("script") == 2
        assert EVIL not in text
        assert EVIL in content["experiments"][0]["groups"]
        assert content["experiments"][0]["data"] == "a <b>"

    def test_its_title_is_escaped(self, tmp_path):
        text, content = page_of([results_of({"s-ucb": {}}, title="<!--data--> & <b>")], tmp_path)
        assert "<title>&lt;!--data--&gt; &amp; &lt;b&gt;" in text
        assert content["experiments"][0]["title"] == "<!--data--> & <b>"

    def test_numbers_come_back_as_they_were(self, plain, tmp_path):
        _, content = page_of([plain], tmp_path)
        rows = {row["label"]: row for row in content["experiments"][0]["rows"]}
        assert list(rows) == plain.labels
        for label, row in rows.items():
            curves = plain.curves(label)
            assert row["rounds"] == plain.rounds(label).tolist()
            np.testing.assert_allclose(row["regret"], curves.mean(axis=0), rtol=1e-4)
            np.testing.assert_allclose(row["regret_se"], curves.std(axis=0, ddof=1) / np.sqrt(3), rtol=1e-4)
            np.testing.assert_allclose(row["shares"], plain.shares(label).mean(axis=0), rtol=1e-4)
            assert row["final"][0] == pytest.approx(plain.final_regret(label).mean(), rel=1e-4)
            assert row["growth"][0] == pytest.approx(plain.growth(label).mean(), rel=1e-4)
            assert row["micros"] == pytest.approx(10)
            assert ("error" in row) == (label in LEARNERS)
            if label in LEARNERS:
                np.testing.assert_allclose(row["gram"], plain.curves(label, "gram_error").mean(axis=0), rtol=1e-4)
                assert row["end_error"][0] == pytest.approx(plain.end_error(label).mean(), rel=1e-4)
            if label != plain.best():
                test = plain.paired(label, plain.best())
                assert row["difference"] == pytest.approx([test.mean, test.low, test.high, test.p], rel=1e-4)
                assert row["tied"] == (test.p >= 0.05)

    def test_rows_are_compared_only_where_they_played_the_same_runs(self):
        results = results_of({"mo-pqucb": {}, "s-ucb": {}}, vary={"environment.length": [1, 5]})
        content = content_of(results)
        for row in content["rows"]:
            assert row["rival"].endswith(row["label"].partition(" ")[2])
        assert content["varied"] == [{"key": "length", "kind": "linear", "values": ["1", "5"], "places": [1, 5]}]

    def test_a_single_run_has_no_errors_and_no_tests(self, tmp_path):
        _, content = page_of([results_of({"s-ucb": {}, "s-moss": {}}, runs=1)], tmp_path)
        for row in content["experiments"][0]["rows"]:
            assert row["final"][1] is None
            assert not {"regret_se", "difference", "tied", "error"} & set(row)

    def test_many_rows_keep_fewer_points(self, monkeypatch, plain):
        monkeypatch.setattr("druthers.report.page.MOST_POINTS", 0)
        rounds = np.arange(1, 101)
        runs = {label: [Run(rounds, rounds * 1.0, rounds * 1.0, rounds * 1.0, rounds)] for label in plain.labels}
        content = content_of(Results(plain.experiment, runs, plain.seconds))
        kept = content["rows"][0]["rounds"]
        assert (len(kept), kept[0], kept[-1]) == (24, 1, 100)

    def test_several_experiments_of_one_name_are_told_apart(self, plain, tmp_path):
        _, content = page_of([plain, plain], tmp_path)
        assert [experiment["nav"] for experiment in content["experiments"]] == ["made-up (1)", "made-up (2)"]

    def test_the_command_plays_it_again(self, plain):
        content = content_of(plain)
        assert content["command"] == "druthers run made-up.toml --seed 2"
        spoken = content_of(dataclasses.replace(plain, spoken="--parser lexicon"))
        assert spoken["command"] == "druthers converse made-up.toml --seed 2 --parser lexicon"
        assert not content["complete"]
        again = Experiment.of(tomllib.loads(content["settings"]), "made-up")
        assert again == plain.experiment

    def test_a_known_experiment_needs_no_file(self):
        known = load_experiment("synthetic").with_settings({"seed": 4, "runs": 1})
        runs = results_of({"s-ucb": {}}).runs["s-ucb"][:1]
        labels = [row.label for row in known.rows()]
        results = Results(known, dict.fromkeys(labels, runs), {label: [1.0] for label in labels})
        content = content_of(results)
        assert content["command"] == "druthers run synthetic --seed 4 --runs 1"
        assert content["complete"]
        policies = {policy["group"]: policy["params"] for policy in content["policies"]}
        assert ["width", "1.4", True] in policies["s-moss"]
        assert ["horizon", "2000", False] in policies["s-moss"]


class TestValues:
    def test_five_digits(self):
        assert rounded([123456.0, 1.234567, float("nan"), float("inf"), 2.0]) == [123460, 1.2346, None, None, 2]

    def test_settings_survive_toml(self):
        settings = {
            "title": 'quotes " and \\ and ü\n',
            "vary": {"policies.*.width": [0.5, 1e-7], "r": {"low": 1, "high": 2}},
            "policies": {"a b": {"on": True, "anchor": {"name": "x", "penalty": 1.5}}, "c": {}},
        }
        assert tomllib.loads(to_toml(settings)) == settings
