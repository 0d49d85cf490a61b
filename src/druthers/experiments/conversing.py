"""Language in the loop: wishes are written as texts and read, policies hear what was read; and what came of that."""

import functools
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from druthers.drafts import finite, write_json
from druthers.engines import Engine, Progress, Watch, unwatched
from druthers.environments import Environment
from druthers.errors import InvalidExperiment, require
from druthers.experiments.plan import Experiment, Row
from druthers.experiments.results import Paired, Results, mean_and_error, paired
from druthers.experiments.running import run_experiment
from druthers.experiments.simulators import Simulators
from druthers.experiments.transcripts import Key, Line, Message, Transcript
from druthers.language import Parser, Reading, Scores, Sentence, Wish, Writer
from druthers.language.evaluation import score
from druthers.policies import find_policy


@dataclass(frozen=True)
class Conversation:
    """An experiment played with rankings that were said and read, and once more with the rankings themselves."""

    results: Results  # with language in the loop
    direct: Results  # without: a perfect reader, who also knows a vague query for what it is
    simulators: Simulators  # who wrote and who read
    lines: Sequence[Line]  # everything that was said, each text once
    batches: Sequence[dict[str, Any]]  # what each batch of texts took
    texts: Path  # the folder that the texts are kept in

    @functools.cached_property
    def reading(self) -> dict[str, Scores]:
        """How well clear texts were read, against what the writer was told, and vague ones, which tell nothing."""
        names = tuple(objective.name for objective in self.simulators.objectives)
        pairs: dict[bool, list[tuple[Sentence, Reading]]] = {False: [], True: []}
        for line in self.lines:
            meant = () if line.message.vague else tuple(names[index] for index in line.message.ranking)
            reading = Reading(line.text, names, line.ranking, line.dismissed)
            pairs[line.message.vague].append((Sentence(line.text, "", names, meant), reading))
        return {kind: score(pairs[kind == "vague"]) for kind in ("clear", "vague")}

    def took(self) -> dict[str, dict[str, float]]:
        """Return what writing and reading took over all batches: seconds, and the counts of a model that was asked."""
        totals: dict[str, Any] = {part: Counter() for part in ("writing", "reading")}
        for batch in self.batches:
            for part, total in totals.items():
                total.update(batch[part])
        return {part: dict(total) for part, total in totals.items()}

    def price(self, label: str) -> Paired:
        """Return how much more regret a row has with language in the loop, run by run."""
        return paired(self.results.final_regret(label), self.direct.final_regret(label))

    def rise(self, row: Row) -> Paired | None:
        """Return how much more regret a row has than the same policy where nothing is corrupted or vague."""
        calm = [other for other in self.results.rows if other.group == row.group and not any(other.varied.values())]
        if not calm or calm[0].label == row.label:
            return None
        return paired(self.results.final_regret(row.label), self.results.final_regret(calm[0].label))

    @functools.cached_property
    def listeners(self) -> list[str]:
        """The policies that hear rankings, in the order of the experiment."""
        rows = {row.group: row.policy for row in self.results.rows}
        return [group for group, policy in rows.items() if find_policy(policy).hears]

    def summary(self) -> dict[str, Any]:
        """Return the figures of every row that listens, and of the reading: the content of conversation.json."""
        simulators = self.simulators.settings()
        simulators["objectives"] = [objective["name"] for objective in simulators["objectives"]]
        rows = [row for row in self.results.rows if row.group in self.listeners]
        return {
            "simulators": {**simulators, "whole": self.simulators.whole},
            "texts": len(self.lines),
            "reading": {kind: _plain(asdict(scores)) for kind, scores in self.reading.items()},
            "policies": {row.label: self._figures(row) for row in rows},
        }

    def _figures(self, row: Row) -> dict[str, Any]:
        figures: dict[str, Any] = {"policy": row.group, "varied": row.varied}
        for name, results in (("said", self.results), ("direct", self.direct)):
            mean, error = mean_and_error(results.final_regret(row.label))
            figures[name] = _plain({"mean": mean, "se": error})
        for name, told in (("price", self.price(row.label)), ("rise", self.rise(row))):
            if told is not None:
                figures[name] = _plain(told._asdict())
        return figures

    def save(self, folder: Path) -> None:
        """Write conversation.json, the same for the same texts, and asking.json, what the texts took."""
        for name, content in (("asking", self.took()), ("conversation", self.summary())):
            write_json(folder / f"{name}.json", content)


def _plain(figures: dict[str, float]) -> dict[str, float | None]:
    return {key: finite(value) for key, value in figures.items()}


# Queries of different runs have different numbers, whatever the horizon.
NUMBERS_PER_RUN = 1_000_000


def messages_of(environment: Environment, seed: tuple[int, int], horizon: int) -> list[Message]:
    """Return what the users of a run mean to say, one message for each interaction, as the tape has it.

    A query without a length is a vague one. Its ranking, which a writer may be told, is as long as that of others.
    """
    if environment.query_rate < 1.0:
        raise InvalidExperiment(f"users must speak in every round, but query_rate is {environment.query_rate}")
    whole = environment.length if isinstance(environment.length, int) else None
    messages: list[Message] = []
    for chunk in environment.tape(seed=seed, horizon=horizon).chunks():
        rows = zip(chunk.orders.tolist(), chunk.lengths.tolist(), chunk.corrupted.tolist(), strict=True)
        for order, length, corrupted in rows:
            messages.append(Message(len(messages), tuple(order[: length or whole]), length == 0, corrupted))
    return messages


def converse(
    experiment: Experiment,
    folder: str | Path,
    simulators: Simulators,
    *,
    batch: int = 50,
    engine: str | Engine = "processes",
    workers: int | None = None,
    watch: Watch = unwatched,
) -> Conversation:
    """Play an experiment twice: with rankings that were said and read, and with the rankings themselves.

    What is said in a round follows from the round, the ranking and whether it is vague. So settings that agree in these
    share their texts, and differences between settings are paired.

    Users must speak in every round. Texts, replies and results are kept in the folder, texts batch by batch, and the
    same call goes on from what is there.
    """
    require(batch >= 1, "a batch must hold at least one text", batch)
    place, rows = Path(folder), experiment.rows()
    names = [objective.name for objective in simulators.objectives]
    said = _messages(experiment, rows, len(names))
    transcript = Transcript(place / "texts" / simulators.fingerprint(experiment.seed), names)
    wanted: dict[int, dict[Key, Message]] = {run: {} for run in range(experiment.runs)}
    for (_, run), messages in said.items():
        for message in messages:
            wanted[run].setdefault(message.key, message)
    _talk(wanted, transcript, simulators, experiment.seed, place / "replies", batch, watch)

    def heard(row: Row, run: int) -> list[tuple[int, ...]]:
        lines = [transcript.of(run)[message.key] for message in said[row.world, run]]
        if not simulators.whole:
            return [line.ranking for line in lines]
        return [permutation_of(line, len(names), (experiment.seed, run)) for line in lines]

    options: dict[str, Any] = {"engine": engine, "workers": workers, "watch": watch}
    title = experiment.title or experiment.name
    direct = run_experiment(replace(experiment, title=f"{title}, without words"), place / "direct", **options)
    results = run_experiment(experiment, place, heard=heard, **options)
    results = replace(results, spoken=simulators.options())
    results.save(place)
    lines = [transcript.of(run)[key] for run, keys in wanted.items() for key in keys]
    conversation = Conversation(results, direct, simulators, lines, transcript.batches, transcript.folder)
    conversation.save(place)
    return conversation


def permutation_of(line: Line, n_objectives: int, seed: tuple[int, int]) -> tuple[int, ...]:
    """Return an order of all objectives, as the reader of the paper must give one for every text, vague or not.

    What was read comes first and what was dismissed last. Nobody said anything of the rest: its order is drawn at
    random, the same whenever the text is heard.
    """
    told = {*line.ranking, *line.dismissed}
    rest = np.array([index for index in range(n_objectives) if index not in told], dtype=np.int64)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(5, line.message.number)))
    last = [index for index in line.dismissed if index not in line.ranking]
    return *line.ranking, *rng.permutation(rest).tolist(), *last


def _messages(experiment: Experiment, rows: Sequence[Row], n_names: int) -> dict[tuple[str, int], list[Message]]:
    """Return the messages of every environment and run."""
    said: dict[tuple[str, int], list[Message]] = {}
    for world, row in {row.world: row for row in rows}.items():
        environment = row.make_environment()
        n_objectives = environment.tape(seed=experiment.seed, horizon=1).means.shape[1]
        if n_objectives != n_names:
            raise InvalidExperiment(
                f"each of the {n_objectives} objectives must have a name, but got {n_names} names; give all of them"
                " with --objectives or --domain"
            )
        for run in range(experiment.runs):
            said[world, run] = messages_of(environment, (experiment.seed, run), row.horizon)
    return said


def _talk(
    wanted: dict[int, dict[Key, Message]],
    transcript: Transcript,
    simulators: Simulators,
    seed: int,
    cache: Path,
    batch: int,
    watch: Watch,
) -> None:
    """Have everything said and read that was not yet; where nothing is left, nobody is called."""
    left = {run: [each for key, each in told.items() if key not in transcript.of(run)] for run, told in wanted.items()}
    if not any(left.values()):
        return
    total = sum(map(len, wanted.values()))
    done = total - sum(map(len, left.values()))
    writer, parser = simulators.make(seed, cache)
    watch(Progress("talking", done, total))
    for run, messages in left.items():
        for start in range(0, len(messages), batch):
            lines, took = _say(messages[start : start + batch], run, writer, parser)
            transcript.add(run, lines, took)
            done += len(lines)
            watch(Progress("talking", done, total, f"run {run + 1}"))


def _say(messages: Sequence[Message], run: int, writer: Writer, parser: Parser) -> tuple[list[Line], dict[str, Any]]:
    """Return what was said and read, and what that took."""
    wishes = [Wish(message.ranking, message.vague, run * NUMBERS_PER_RUN + message.number) for message in messages]
    texts, writing = _measured(writer, writer.write_all, wishes)
    readings, reading = _measured(parser, parser.read_all, [text for text, _ in texts])
    lines = [
        Line(message, text, read.ranking, read.dismissed, (*notes, *read.notes))
        for message, (text, notes), read in zip(messages, texts, readings, strict=True)
    ]
    return lines, {"writing": writing, "reading": reading}


def _measured(simulator: Any, work: Callable[[Any], Any], given: Any) -> tuple[Any, dict[str, float]]:
    """Return what came of some work, and what it took: seconds, and counts where a model was asked."""
    start, before = time.perf_counter(), _counts(simulator)
    done = work(given)
    seconds = round(time.perf_counter() - start, 6)
    return done, {"seconds": seconds} | {key: value - before[key] for key, value in _counts(simulator).items()}


def _counts(simulator: Any) -> dict[str, float]:
    """Return what asking a model came to so far, nothing where none is asked."""
    counts = dict(simulator.counts.as_dict()) if hasattr(simulator, "counts") else {}
    return {"model_seconds" if key == "seconds" else key: value for key, value in counts.items()}
