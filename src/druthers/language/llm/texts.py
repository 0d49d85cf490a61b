"""Read and write texts with a language model, on any OpenAI-compatible server."""

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from druthers.language.llm.client import Counts, NoAnswer, make_client
from druthers.language.llm.replies import (
    describe,
    enclose,
    prompt,
    read_reply,
    reply_schema,
    text_schema,
    written_reply,
)
from druthers.language.models.minilm import Encoder
from druthers.language.parser import Parser
from druthers.language.text import shown_of, tokenize
from druthers.language.writing.templates import TemplateWriter, Wish, Written, checked_wish
from druthers.types import Objective, RankingLike, Reading


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


class LlmParser(Parser):
    """Read texts with a language model; what it does not answer lawfully is read offline.

    Parameters
    ----------
    objectives
        What users may care about: names, or Objective values with descriptions and synonyms.
    fallback
        What reads a text that the model did not answer; the reading's notes say so.
    concurrency
        How many texts of a batch are asked about at the same time.
    settings
        Settings of the `Client`: model, base_url, key_variable, timeout, retries, prices, cache and others.
    """

    asks_others = True

    def __init__(
        self, objectives: Iterable[str | Objective], fallback: Parser, *, concurrency: int = 4, **settings: Any
    ) -> None:
        super().__init__(objectives, "llm")
        self.fallback = fallback
        self.client = make_client(concurrency, settings)
        self.concurrency = concurrency
        self._system = prompt("read").substitute(objectives="\n".join(map(describe, self.objectives)))
        self._schema = reply_schema(self._names)

    def __repr__(self) -> str:
        return f"LlmParser({list(self._names)}, {self.client!r})"

    @property
    def counts(self) -> Counts:
        """Calls, tokens, retries, refusals, illegal replies, fallbacks, seconds and cost so far."""
        return self.client.counts

    def encoder(self) -> Encoder | None:
        """Return the sentence model of the parser that reads offline."""
        return self.fallback.encoder()

    def read(self, text: str) -> Reading:
        """Return what a text says about the objectives; any text will do, and whatever the server does."""
        if not any(token.is_word for token in tokenize(text)):
            return self.fallback.read(text)
        shown = shown_of(text).encode("utf-8", "replace").decode()
        try:
            return self.client.ask(
                self._system, enclose(shown), self._schema, lambda reply: read_reply(reply, text, self.objectives)
            )
        except NoAnswer as problem:
            reading = self.fallback.read(text)
            note = f"read offline by '{self.fallback.name}': {self.client.model} gave no answer ({problem})"
            return replace(reading, notes=(*reading.notes, note))

    def warm_up(self) -> None:
        """Load what reads where the model gives no answer; the model itself is not asked."""
        self.fallback.warm_up()

    def read_all(self, texts: Iterable[str]) -> list[Reading]:
        """Return what each text says, in the order of the texts, several asked about at a time."""
        with ThreadPoolExecutor(self.concurrency, thread_name_prefix="druthers-llm") as pool:
            return list(pool.map(self.read, texts))
