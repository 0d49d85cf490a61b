"""What came of a conversation: how well it was read, what words cost, and what asking a model took."""

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from druthers.drafts import finite, write_json
from druthers.experiments.plan import Row
from druthers.experiments.results import Paired, Results, mean_and_error, paired
from druthers.experiments.simulators import Simulators
from druthers.experiments.transcripts import Line
from druthers.language import Reading, Scores, Sentence
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
