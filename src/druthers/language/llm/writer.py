"""Write texts with a language model, on any OpenAI-compatible server."""

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from druthers.language.llm.client import Counts, NoAnswer, make_client
from druthers.language.llm.replies import describe, prompt, text_schema, written_reply
from druthers.language.writing.templates import TemplateWriter
from druthers.language.writing.wish import Wish, Written, checked_wish
from druthers.types import RankingLike


class LlmWriter:
    """Write texts with a language model; what it does not answer lawfully is written by templates.

    Parameters
    ----------
    fallback
        What writes a text that the model did not write; it also knows the objectives.
    item
        What is looked for, with its article: "a hotel".
    concurrency
        How many texts of a batch are asked for at the same time.
    settings
        Settings of the `Client`: model, base_url, key_variable, temperature, timeout, retries, prices, cache, others.
    """

    def __init__(
        self, fallback: TemplateWriter, *, item: str | None = None, concurrency: int = 4, **settings: Any
    ) -> None:
        self.objectives = fallback.objectives
        self.fallback = fallback
        self.item = item
        self.client = make_client(concurrency, settings)
        self.concurrency = concurrency
        self._written = 0
        lines = "\n".join(map(describe, self.objectives))
        self._systems = {
            vague: prompt("write").substitute(objectives=lines, vague=prompt("vague").template if vague else "")
            for vague in (False, True)
        }

    def __repr__(self) -> str:
        return f"LlmWriter({[each.name for each in self.objectives]}, {self.client!r})"

    @property
    def counts(self) -> Counts:
        """Calls, tokens, retries, refusals, illegal replies, fallbacks, seconds and cost so far."""
        return self.client.counts

    def write(self, ranking: RankingLike, *, vague: bool = False, number: int | None = None) -> str:
        """Return what a user might say who wants things in this order, or who says next to nothing of it.

        Parameters
        ----------
        ranking
            Objectives by index, most important first. It may be empty only if the text is vague.
        vague
            Whether the model is told to give no hint of the order.
        number
            Which text it is: a model that answers from the cache says the same again only to the same number. By
            default texts are counted.
        """
        return self.write_all([Wish(ranking, vague, number)])[0].text

    def write_all(self, wishes: Iterable[Wish]) -> list[Written]:
        """Return a text for each wish, in their order, several asked for at a time."""
        asked: list[Wish] = []
        for wish in wishes:
            order = checked_wish(wish, len(self.objectives))
            number = self._written + len(asked) if wish.number is None else wish.number
            asked.append(Wish(tuple(order), wish.vague, number))
        self._written += len(asked)
        with ThreadPoolExecutor(self.concurrency, thread_name_prefix="druthers-llm") as pool:
            replies = list(pool.map(self._ask, asked))
        return [self._or_else(reply, wish) for reply, wish in zip(replies, asked, strict=True)]

    def _ask(self, wish: Wish) -> str | NoAnswer:
        names = [self.objectives[index].name for index in wish.ranking]
        question = json.dumps({"id": wish.number, "item": self.item, "wishes": names}, ensure_ascii=False)
        try:
            return self.client.ask(self._systems[wish.vague], question, text_schema(), written_reply)
        except NoAnswer as problem:
            return problem

    def _or_else(self, reply: str | NoAnswer, wish: Wish) -> Written:
        """Return a reply, or what the templates write instead: one after the other, since they share their chance."""
        if isinstance(reply, str):
            return Written(reply)
        text = self.fallback.write(wish.ranking, vague=wish.vague, number=wish.number)
        return Written(text, (f"written by templates: {self.client.model} gave no answer ({reply})",))
