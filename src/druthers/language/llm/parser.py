"""Read texts with a language model, on any OpenAI-compatible server."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from druthers.language.llm.client import Counts, NoAnswer, make_client
from druthers.language.llm.replies import describe, enclose, prompt, read_reply, reply_schema
from druthers.language.models.minilm import Encoder
from druthers.language.parser import Parser
from druthers.language.text import shown_of, tokenize
from druthers.types import Objective, Reading


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
