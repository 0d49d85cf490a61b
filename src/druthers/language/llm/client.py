"""Ask a language model over any OpenAI-compatible server: patiently, cheaply, and never trusting the reply."""

import hashlib
import json
import os
import random
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from druthers.drafts import replaced
from druthers.errors import Degraded, InvalidSetting, needs
from druthers.language.llm.replies import IllegalReply

T = TypeVar("T")

# What servers are sent that need no key; the SDK wants one.
_NO_KEY = "none"
# The ways to ask for JSON, strictest first; a server that refuses one is asked in the next.
_FORMATS = ("json_schema", "json_object", "text")
_REFUSED, _BUSY = (400, 422), (408, 409, 425, 429)
# A server that failed so many questions in a row is tried only once for each further one, until it answers.
_PATIENCE = 3


class NoAnswer(Exception):
    """A model that gave no reply of use, and why."""


class Client:
    """A model on a server; safe to use from several threads.

    Parameters
    ----------
    model
        The name of the model, as its server spells it.
    base_url
        Where the server is, `/v1` included where it has one; by default OpenAI.
    key_variable
        The environment variable that holds the key. By default OPENAI_API_KEY for OpenAI itself and no key for any
        other server, so that no key goes where it does not belong.
    temperature
        Of the model; None leaves it to the server.
    timeout
        Seconds that a server may stay silent before a request is given up.
    retries
        How often a failed request or an illegal reply is tried again.
    backoff
        Seconds before the first retry; they double from one to the next, up to 30.
    prices
        Price of a token of input and of output.
    cache
        A folder for replies; by default none are kept.
    seed
        Of the jitter in the waits.
    options
        Further parameters of a chat completion, such as `{"max_tokens": 500}`.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        key_variable: str | None = None,
        temperature: float | None = 0.0,
        timeout: float = 30.0,
        retries: int = 2,
        backoff: float = 0.5,
        prices: tuple[float, float] = (0.0, 0.0),
        cache: str | os.PathLike[str] | None = None,
        seed: int = 0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise InvalidSetting(f"model must be the name of a model, but got {model!r}; its server lists them")
        for name, value, least in (("timeout", timeout, 1e-3), ("retries", retries, 0), ("backoff", backoff, 0.0)):
            if not value >= least:
                raise InvalidSetting(f"{name} must be at least {least}, but got {value}")
        key = _key(key_variable, base_url)
        if base_url is not None:
            _check_url(base_url)
        self.model, self.base_url = model, base_url
        self.retries, self.backoff, self.seed = retries, backoff, seed
        self.prices = prices
        self.counts = Counts()
        self._openai = needs("openai", "llm")
        self._client = self._openai.OpenAI(api_key=key, base_url=base_url, timeout=timeout, max_retries=0)
        self._settings = {**({} if temperature is None else {"temperature": temperature}), **(options or {})}
        self._replies = None if cache is None else ReplyCache(cache)
        self._lock = threading.Lock()
        self._format = 0
        self._failed = 0

    def __repr__(self) -> str:
        return f"Client({self.model!r}, base_url={self.base_url!r})"

    def ask(self, system: str, user: str, schema: Mapping[str, Any], accept: Callable[[str], T]) -> T:
        """Return an accepted reply, or raise NoAnswer.

        Parameters
        ----------
        system
            Who the model is and what it must do.
        user
            What it must do it with: data, never instructions.
        schema
            The JSON schema of the reply. It is asked for where the server can, and never relied upon.
        accept
            What reads a reply, or raises IllegalReply.
        """
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        key = question_key([self.base_url, self.model, messages, schema, self._settings])
        self._count(questions=1)
        kept = None if self._replies is None else self._replies.get(key)
        if kept is not None:
            try:
                answer = accept(kept["reply"])
            except IllegalReply:
                pass
            else:
                self._count(cached=1)
                return answer
        try:
            answer, value = self._try(messages, schema, accept, key)
        except NoAnswer:
            self._count(fallbacks=1)
            raise
        if self._replies is not None:
            self._replies.put(key, value)
        return answer

    def _try(
        self, messages: list[dict[str, str]], schema: Mapping[str, Any], accept: Callable[[str], T], key: str
    ) -> tuple[T, dict[str, Any]]:
        """Ask until a reply is accepted, patience ends or asking again makes no sense."""
        attempts = 1 if self._failed >= _PATIENCE else self.retries + 1
        why = ""
        for attempt in range(attempts):
            self._count(retries=int(attempt > 0))
            wait = self.backoff * 2.0**attempt * random.Random(f"{self.seed} {key} {attempt}").uniform(0.5, 1.0)
            try:
                value = self._request(messages, schema)
                answer = accept(value["reply"])
            except IllegalReply as error:
                self._count(illegal=1)
                self._failed = 0
                why = f"illegal reply: {error}"
            except self._openai.APIStatusError as error:
                why = f"status {error.status_code}"
                if error.status_code < 500 and error.status_code not in _BUSY:
                    self._note_failure(True)
                    raise NoAnswer(why) from None
                wait = max(wait, _asked_wait(error.response.headers.get("retry-after")))
            except self._openai.APIError as error:
                why = "no reply in time" if isinstance(error, self._openai.APITimeoutError) else "no connection"
            else:
                self._failed = 0
                return answer, value
            if attempt + 1 < attempts:
                time.sleep(min(30.0, wait))
        self._note_failure(not why.startswith("illegal"))
        raise NoAnswer(why)

    def _request(self, messages: list[dict[str, str]], schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return one reply with its tokens; formats that the server refuses are left for good."""
        while True:
            way = self._format
            start = time.perf_counter()
            try:
                response = self._client.chat.completions.create(
                    model=self.model, messages=messages, **_response_format(_FORMATS[way], schema), **self._settings
                )
            except self._openai.APIError as error:
                self._count(failures=1)
                status = getattr(error, "status_code", None)
                if status not in _REFUSED or way + 1 == len(_FORMATS):
                    raise
                with self._lock:
                    self._format = max(self._format, way + 1)
            except (ValueError, TypeError, RecursionError):
                raise IllegalReply("not a chat completion") from None
            else:
                return self._reply(response)
            finally:
                self._count(calls=1, seconds=time.perf_counter() - start)

    def _reply(self, response: Any) -> dict[str, Any]:
        """Return what a response says, whatever it looks like."""
        usage = getattr(response, "usage", None)
        spent = [getattr(usage, name, 0) for name in ("prompt_tokens", "completion_tokens")]
        given, made = (value if isinstance(value, int) and value > 0 else 0 for value in spent)
        self._count(input_tokens=given, output_tokens=made, cost=given * self.prices[0] + made * self.prices[1])
        choices = getattr(response, "choices", None) or [None]
        message = getattr(choices[0], "message", None)
        if getattr(message, "refusal", None) or getattr(choices[0], "finish_reason", None) == "content_filter":
            self._count(refusals=1)
            raise NoAnswer("the model declined")
        reply = getattr(message, "content", None)
        if not isinstance(reply, str):
            raise IllegalReply("no text")
        return {"model": self.model, "reply": reply, "input_tokens": given, "output_tokens": made}

    def _note_failure(self, failed: bool) -> None:
        with self._lock:
            self._failed += failed

    def _count(self, **more: float) -> None:
        with self._lock:
            for name, value in more.items():
                setattr(self.counts, name, getattr(self.counts, name) + value)


def make_client(concurrency: int, settings: dict[str, Any]) -> Client:
    """Return the model that settings name, or say what is wrong with them."""
    if not concurrency >= 1:
        raise InvalidSetting(f"concurrency must be at least 1, but got {concurrency}")
    if "model" not in settings:
        raise InvalidSetting("a language model must be named, but got no model; give model=... and base_url=...")
    return Client(**settings)


def _key(variable: str | None, base_url: str | None) -> str:
    """Return the key from the environment; it is never shown."""
    if variable is None:
        if base_url is not None:
            return _NO_KEY
        variable = "OPENAI_API_KEY"
    key = os.environ.get(variable, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        remedy = "export it, or give the base_url of a server that needs none"
        raise InvalidSetting(f"the environment variable {variable} must hold a key, but it holds none; {remedy}")
    return key


def _check_url(base_url: str) -> None:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
        example = "such as http://localhost:11434/v1"
        raise InvalidSetting(f"base_url must be a plain address {example}, without a key in it, but got another")


def _response_format(way: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if way == "text":
        return {}
    if way == "json_object":
        return {"response_format": {"type": way}}
    return {"response_format": {"type": way, "json_schema": {"name": "reply", "strict": True, "schema": schema}}}


def _asked_wait(header: str | None) -> float:
    """Return the seconds that a server asks to wait for; dates are not understood."""
    try:
        return max(0.0, float(header or 0))
    except ValueError:
        return 0.0


@dataclass
class Counts:
    """What asking a model came to."""

    questions: int = 0  # what was asked, replies from disk included
    cached: int = 0  # questions answered from disk
    calls: int = 0  # requests to the server
    retries: int = 0  # requests that repeated a failed one
    failures: int = 0  # requests that failed: no connection, no reply in time, or an error status
    illegal: int = 0  # replies that could not be read
    refusals: int = 0  # replies in which the model declined
    fallbacks: int = 0  # questions that the model did not answer in the end
    input_tokens: int = 0  # tokens as the server counted them; 0 from servers that do not
    output_tokens: int = 0
    seconds: float = 0.0  # time in requests, added up over threads
    cost: float = 0.0  # tokens times their prices

    def as_dict(self) -> dict[str, float]:
        """Return the counts as plain values, ready for JSON."""
        return asdict(self)


def question_key(question: Any) -> str:
    """Return a hash of a question: everything that the reply depends on.

    Examples
    --------
    >>> question_key({"model": "m", "text": "cheap"}) == question_key({"text": "cheap", "model": "m"})
    True
    """
    plain = json.dumps(question, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.sha256(plain.encode()).hexdigest()


class ReplyCache:
    """A folder of replies, one file each; several processes may share it.

    Parameters
    ----------
    folder
        Where the files are; made when the first reply is kept. They hold what models replied, quotes of users' words
        included, but neither questions nor keys.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def get(self, key: str) -> dict[str, Any] | None:
        """Return what was kept; a damaged file counts as none."""
        try:
            value = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) and isinstance(value.get("reply"), str) else None

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Keep a reply: whole or not at all; where that fails, a warning says so, since the reply itself is good."""
        try:
            path = self._path(key)
            path.parent.mkdir(parents=True, exist_ok=True)
            with replaced(path, mode=0o600) as draft:
                draft.write_text(json.dumps(value), encoding="utf-8")
        except OSError as error:
            why = error.strerror or type(error).__name__
            warnings.warn(f"a reply could not be kept in {self.folder} ({why})", Degraded, stacklevel=2)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"
