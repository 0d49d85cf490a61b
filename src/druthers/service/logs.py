"""Logs of the service: one JSON object a line, and never a secret."""

from __future__ import annotations

import json
import logging
import re
import time
from typing import Any

NAME = "druthers.service"

_SCHEMES = "bearer|basic|digest|negotiate"
_NAMES = r"authorization|x-api-key|ocp-apim-subscription-key|api[-_]?key|passw(?:or)?d|pwd|secret|token"

# The id of a key is no secret and stays; a name that announces a secret hides what follows it, also in printed headers.
_SECRETS = (
    (re.compile(r"(druthers_[0-9A-Za-z]{1,32})_[0-9A-Za-z_-]+"), r"\1_***"),
    (re.compile(r"(\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@\"']{0,100}):\S{1,500}@", re.I), r"\1:***@"),
    (re.compile(rf"\b({_SCHEMES})(\s+)[^\s\"',;)}}\]]+", re.I), r"\1\2***"),
    (
        re.compile(
            rf"({_NAMES})((?:\\?[\"'])?[\s,:=]{{1,3}}(?:b?\\?[\"'])?)(?!\*\*\*|(?:{_SCHEMES})\s)[^\s\"',;&)}}\]\\]+",
            re.I,
        ),
        r"\1\2***",
    ),
    (re.compile(r"(cookie(?:\\?[\"'])?[\s,:=]{1,3}(?:b?\\?[\"'])?)[^\"'\r\n]+", re.I), r"\1***"),
    (re.compile(r"\bsk-[0-9A-Za-z_-]{8,}"), "sk-***"),
)
_LONGEST = 20_000  # of a message or a trace, in characters


def redact(text: str) -> str:
    """Return a text without the secrets in it: keys, passwords in addresses, credentials in headers.

    Examples
    --------
    >>> redact("postgresql://ada:lovelace@db/shop?password=lovelace, Authorization: Bearer abc.def")
    'postgresql://ada:***@db/shop?password=***, Authorization: Bearer ***'
    """
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    for pattern, shown in _SECRETS:
        text = pattern.sub(shown, text)
    return text


def stamp(seconds: float) -> str:
    """Return a moment as logs write it.

    Examples
    --------
    >>> stamp(1.25)
    '1970-01-01T00:00:01.250Z'
    """
    whole = int(seconds)
    if whole not in _SECONDS:
        _SECONDS.clear()
        _SECONDS[whole] = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
    return f"{_SECONDS[whole]}.{int((seconds - whole) * 1000):03d}Z"


_SECONDS: dict[int, str] = {}  # the last second, as many requests fall into one


# What formatters may ask a record for. The place in the code, whose search takes most of an ordinary record's time, is
# left out.
_RECORD = logging.makeLogRecord({"name": NAME}).__dict__


class RequestRecord(logging.LogRecord):
    """A request as one line: its message is a JSON object by who knows that no secret is in it."""

    def __init__(self, level: int, line: str) -> None:
        now = time.time()
        self.__dict__.update(_RECORD)
        self.levelno, self.levelname = level, _LEVEL_NAMES[level]
        self.msg, self.created, self.msecs = line, now, now % 1.0 * 1000.0


_LEVEL_NAMES = {logging.INFO: "INFO", logging.ERROR: "ERROR"}


class JsonFormatter(logging.Formatter):
    """Write a record as one line of JSON, without the secrets in it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        if isinstance(record, RequestRecord):
            return f'{{"time":"{stamp(record.created)}","level":"{record.levelname.lower()}",{record.msg[1:]}'
        fields: dict[str, Any] = {
            "time": stamp(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redact(record.getMessage()),
        }
        if (request := getattr(record, "request", None)) is not None:
            fields["request"] = redact(str(request))
        if record.exc_info:
            fields["trace"] = redact(self.formatException(record.exc_info))
        if record.stack_info:
            fields["stack"] = redact(self.formatStack(record.stack_info))
        return json.dumps(fields)


def log_config(level: str = "info") -> dict[str, Any]:
    """Return the set-up of logging, ours and that of uvicorn, for `uvicorn.run(log_config=...)`.

    Uvicorn's own log of requests is off: it holds raw paths, and paths hold the ids of users.
    """
    ours = {"handlers": ["lines"], "level": level.upper(), "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonFormatter}},
        "handlers": {"lines": {"class": "logging.StreamHandler", "stream": "ext://sys.stderr", "formatter": "json"}},
        "loggers": {
            "druthers": ours,
            "uvicorn": ours,
            "uvicorn.access": {"handlers": [], "level": "CRITICAL", "propagate": False},
            "py.warnings": ours,
        },
    }
