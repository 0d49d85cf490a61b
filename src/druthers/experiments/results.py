"""What came of an experiment: curves of every run, tables over them, and the files they are kept in."""

import dataclasses
import itertools
import json
import math
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import druthers
from druthers.drafts import finite, replaced, write_json
from druthers.errors import DruthersError, InvalidExperiment, needs, require_known
from druthers.experiments.floors import FloorLine
from druthers.experiments.plan import Experiment, Row, labeled
from druthers.simulation import Run
from druthers.types import Floats, Integers

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

CURVES = ("regret", "error", "gram_error")


class Paired(NamedTuple):
    """How much more one policy lost than another on the same tapes: mean difference and its uncertainty."""

    mean: float
    error: float  # the standard error
    low: float  # the confidence interval of Student's t
    high: float
    p: float  # two-sided chance of such a mean were there no difference


@dataclass(frozen=True)
class Results:
    """The runs of an experiment."""

    experiment: Experiment  # what was played
    runs: dict[str, list[Run]]  # one for each run of each row, by the row's label, in order of runs
    seconds: dict[str, list[float]]  # how long each of them took
    data: str | None = None  # where the environment's data came from, if from anywhere
    spoken: str | None = None  # who wrote and read what policies heard, as options of `converse`; None for rankings
    # The rows of the experiment, in its order. They are kept with the results, which can be looked at where a policy of
    # someone's own is not, or is no longer what it was.
    rows: Sequence[Row] = ()
    floor: FloorLine | None = None  # the least regret there can be, if it was asked for

    def __post_init__(self) -> None:
        if not self.rows:
            object.__setattr__(self, "rows", self.experiment.rows())

    @property
    def labels(self) -> list[str]:
        """The names of the rows."""
        return list(self.runs)

    @property
    def varied(self) -> list[str]:
        """The names of what is varied."""
        return list(dict.fromkeys(key for row in self.rows for key in row.varied))

    def rounds(self, label: str) -> Integers:
        """Return the rounds after which the curves of a row were read, counted from 1."""
        return self._of(label)[0].rounds

    def curves(self, label: str, what: str = "regret") -> Floats:
        """Return a curve for each run (runs, points): "regret", "error" or "gram_error" of the preference."""
        return np.array([getattr(run, what) for run in self._of(label)])

    def final_regret(self, label: str) -> Floats:
        """Return the regret of each run at its end."""
        final: Floats = self.curves(label)[:, -1]
        return final

    def shares(self, label: str) -> Floats:
        """Return which share of the choices each arm had (runs, arms), the arm that is best on average first."""
        pulls = np.array([run.pulls for run in self._of(label)], dtype=float)
        shares: Floats = pulls / pulls.sum(axis=1, keepdims=True)
        return shares

    def end_error(self, label: str, what: str = "error") -> Floats:
        """Return the mean preference error of each run over its last tenth; NaN where no preference is learned."""
        late = self.rounds(label) > 0.9 * self.rounds(label)[-1]
        errors: Floats = self.curves(label, what)[:, late].mean(axis=1)
        return errors

    def band(self, label: str, what: str = "regret") -> tuple[Floats, Floats]:
        """Return the mean of a row's curves and its standard error, NaN for a single run."""
        curves = self.curves(label, what)
        runs = len(curves)
        error = curves.std(axis=0, ddof=1) / math.sqrt(runs) if runs > 1 else np.full(curves.shape[1], np.nan)
        return curves.mean(axis=0), error

    def learns(self, label: str) -> bool:
        """Tell whether a row's policy learns preferences."""
        return bool(np.isfinite(self.end_error(label)).any())

    def growth(self, label: str) -> Floats:
        """Return the exponent a of regret ~ t^a in each run, fitted to its last nine tenths on logarithmic axes."""
        rounds = self.rounds(label)
        # Evenly in the logarithm, so that the many late points do not outvote the early ones.
        picked = np.unique(np.searchsorted(rounds, np.geomspace(max(rounds[-1] / 10, 1), rounds[-1], 20)))
        picked = picked[picked < len(rounds)]
        if len(picked) < 2:
            return np.full(len(self._of(label)), np.nan)
        logs = np.log(np.maximum(self.curves(label)[:, picked], 1e-12))
        exponents: Floats = np.polyfit(np.log(rounds[picked]), logs.T, 1)[0]
        return exponents

    def rates(self) -> dict[str, tuple[float, float]]:
        """Return the exponent a of final regret ~ T^a where the horizon T is varied, and its standard error.

        Not the growth within a run: a policy that is told the horizon plays otherwise if it is another one.
        """
        series: dict[str, list[Row]] = {}
        for row in self.rows:
            others = {key: value for key, value in row.varied.items() if key != "horizon"}
            series.setdefault(labeled(row.group, others), []).append(row)
        rates = {}
        for label, rows in series.items():
            if len({row.horizon for row in rows}) > 1:
                regrets = np.log([np.maximum(self.final_regret(row.label), 1e-12) for row in rows])
                slopes = np.polyfit(np.log([row.horizon for row in rows]), regrets, 1)[0]
                rates[label] = mean_and_error(slopes)
        return rates

    def paired(self, first: str, second: str, level: float = 0.95) -> Paired:
        """Compare the final regret of two rows, run by run."""
        return paired(self.final_regret(first), self.final_regret(second), level)

    def best(self) -> str:
        """Return the label of the row with the least mean regret."""
        return min(self.labels, key=lambda label: float(self.final_regret(label).mean()))

    def best_settings(self) -> dict[str, str]:
        """Return the row with the least mean regret of each policy, as the experiment calls it, the best first."""
        best: dict[str, str] = {}
        for row in sorted(self.rows, key=lambda row: float(self.final_regret(row.label).mean())):
            best.setdefault(row.group, row.label)
        return best

    def rivals(self) -> dict[str, str]:
        """Return for each row the best on the same tapes: runs pair only where environment and horizon agree."""
        worlds = {row.label: row.world for row in self.rows}
        ranked = sorted(worlds, key=lambda label: (float(self.final_regret(label).mean()), label), reverse=True)
        best = {worlds[label]: label for label in ranked}
        return {label: best[world] for label, world in worlds.items()}

    def summary(self) -> dict[str, Any]:
        """Return the figures of every row: the content of summary.json, the same wherever it was computed."""
        rows = {row.label: row for row in self.rows}
        return {
            "experiment": self.experiment.name,
            "horizon": self.experiment.horizon,
            "runs": self.experiment.runs,
            "seed": self.experiment.seed,
            "data": self.data,
            "policies": {label: self._figures(rows[label]) for label in self.labels},
            "rates": {label: {"mean": mean, "se": finite(error)} for label, (mean, error) in self.rates().items()},
        }

    def _figures(self, row: Row) -> dict[str, Any]:
        final = self.final_regret(row.label)
        figures: dict[str, Any] = {"policy": row.policy, "params": row.params, "varied": row.varied}
        measured = {
            "final_regret": final,
            "growth_exponent": self.growth(row.label),
            "preference_error": self.end_error(row.label),
            "gram_error": self.end_error(row.label, "gram_error"),
        }
        for name, values in measured.items():
            mean, error = mean_and_error(values)
            figures |= {f"{name}_mean": finite(mean), f"{name}_se": finite(error)}
        figures["best_arm_share"] = finite(float(self.shares(row.label)[:, 0].mean()))
        figures["final_regret_runs"] = [finite(value) for value in final]
        return figures

    def timing(self) -> dict[str, Any]:
        """Return the microseconds a round took: the content of timing.json; no two runs of a machine agree on it."""
        horizons = {row.label: row.horizon for row in self.rows}
        micros = {label: 1e6 * float(np.median(told)) / horizons[label] for label, told in self.seconds.items()}
        return {"policies": {label: {"us_per_round": round(each, 3)} for label, each in micros.items()}}

    def settings(self) -> dict[str, Any]:
        """Return what made these results: the content of settings.json."""
        packages = {name: metadata.version(name) for name in ("numpy", "numba")}
        versions = {"druthers": druthers.__version__, "python": platform.python_version(), **packages}
        spoken = {} if self.spoken is None else {"spoken": self.spoken}
        made = {"experiment": self.experiment.settings(), "data": self.data, **spoken, "versions": versions}
        return made | {"rows": [dataclasses.asdict(row) for row in self.rows]}

    def to_arrow(self) -> "pyarrow.Table":
        """Return the curves in long form: one line for each label, run and round."""
        return self._long(lambda run: {"round": run.rounds, **{name: getattr(run, name) for name in CURVES}})

    def _long(self, columns: Callable[[Run], dict[str, Any]]) -> "pyarrow.Table":
        """Return some columns of every run in long form, after its label and number."""
        pyarrow = needs("pyarrow", "lab")
        every = [(label, number, columns(run)) for label, runs in self.runs.items() for number, run in enumerate(runs)]
        labels, numbers, parts = zip(*every, strict=True)
        sizes = [len(next(iter(part.values()))) for part in parts]
        keys = {
            "label": pyarrow.array(np.repeat(labels, sizes)).dictionary_encode(),
            "run": np.repeat(np.array(numbers, dtype=np.int32), sizes),
        }
        return pyarrow.table(keys | {name: np.concatenate([part[name] for part in parts]) for name in parts[0]})

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the curves in long form as a pandas frame."""
        needs("pandas", "frames")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> "polars.DataFrame":
        """Return the curves in long form as a polars frame."""
        frame: polars.DataFrame = needs("polars", "frames").from_arrow(self.to_arrow())
        return frame

    def save(self, folder: str | Path) -> None:
        """Write summary.json, timing.json, settings.json, curves.parquet and arms.parquet, each whole or not at all."""
        parquet = needs("pyarrow.parquet", "lab")
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        arms = self._long(lambda run: {"place": np.arange(len(run.pulls), dtype=np.int32), "pulls": run.pulls})
        for name, table in (("curves", self.to_arrow()), ("arms", arms)):
            with replaced(place / f"{name}.parquet") as path:
                parquet.write_table(table, path, compression="zstd")
        for name in ("settings", "timing", "summary"):  # the summary last: where it is, all is
            write_json(place / f"{name}.json", getattr(self, name)())

    @classmethod
    def load(cls, folder: str | Path) -> "Results":
        """Read what `save` wrote."""
        place = Path(folder)
        if not (place / "summary.json").exists():
            raise InvalidExperiment(
                f"results are a folder with a summary.json, but {place} has none; `druthers run` makes one"
            )
        try:
            return cls._read(place)
        except (OSError, ValueError, KeyError, TypeError) as error:  # what Arrow says is a ValueError
            if isinstance(error, DruthersError):
                raise
            raise InvalidExperiment(
                f"results must be whole, but those in {place} are not: {error!r}; `druthers run` makes them again"
            ) from None

    @classmethod
    def _read(cls, place: Path) -> "Results":
        parquet = needs("pyarrow.parquet", "lab")
        settings, timing = (json.loads((place / f"{name}.json").read_text("utf-8")) for name in ("settings", "timing"))
        experiment = Experiment(**settings["experiment"])
        curves, arms = (_by_run(parquet.read_table(place / f"{name}.parquet")) for name in ("curves", "arms"))
        runs: dict[str, list[Run]] = {}
        for key, part in curves.items():
            run = Run(part["round"], part["regret"], part["error"], part["gram_error"], arms[key]["pulls"])
            runs.setdefault(key[0], []).append(run)
        rows = [Row(**row) for row in settings.get("rows", ())] or experiment.rows()
        micros = {label: told["us_per_round"] for label, told in timing["policies"].items()}
        seconds = {row.label: [micros[row.label] * row.horizon / 1e6] for row in rows}
        return cls(experiment, runs, seconds, settings["data"], settings.get("spoken"), rows)

    def _of(self, label: str) -> list[Run]:
        require_known("row", self.runs, label)
        return self.runs[label]


def mean_and_error(values: ArrayLike) -> tuple[float, float]:
    """Return the mean and its standard error, NaN for a single value."""
    array = np.asarray(values, dtype=float)
    error = array.std(ddof=1) / math.sqrt(len(array)) if len(array) > 1 else math.nan
    return float(array.mean()), float(error)


def paired(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> Paired:
    """Compare two series of runs on the same tapes by their differences, with Student's t."""
    special = needs("scipy.special", "lab")
    differences = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    mean, error = mean_and_error(differences)
    if not error > 0.0:  # a single run, or no difference in any
        reach = 0.0 if len(differences) > 1 else math.inf
        return Paired(mean, error, mean - reach, mean + reach, float(mean == 0.0 or reach > 0.0))
    freedom = len(differences) - 1
    reach = error * float(special.stdtrit(freedom, 0.5 + level / 2.0))
    return Paired(mean, error, mean - reach, mean + reach, 2.0 * float(special.stdtr(freedom, -abs(mean / error))))


def _by_run(table: "pyarrow.Table") -> dict[tuple[str, int], dict[str, Any]]:
    """Cut a table in long form into the columns of each label and run, in order of appearance."""
    labels = table["label"].combine_chunks()
    codes, numbers = labels.indices.to_numpy(), table["run"].to_numpy()
    columns = {name: table[name].to_numpy() for name in table.column_names if name not in ("label", "run")}
    starts = [0, *(np.flatnonzero((np.diff(codes) != 0) | (np.diff(numbers) != 0)) + 1).tolist(), len(codes)]
    parts: dict[tuple[str, int], dict[str, Any]] = {}
    for start, end in itertools.pairwise(starts):
        key = (labels.dictionary[int(codes[start])].as_py(), int(numbers[start]))
        parts[key] = {name: values[start:end] for name, values in columns.items()}
    return parts
