"""Logs of the service: one JSON object a line, and never a secret.

Written by hand for its cost: the line of a request takes 3.4 µs here and took 52 µs through structlog 26.1 (standard
logging with its JSON renderer, one run on one machine), when a whole request takes a few hundred. As records of the
standard library, lines of requests add 24 µs to each (benchmarks/guard.py).
"""

import json
import logging
import re
import time
from datetime import UTC, datetime
from typing import Any, TextIO

NAME = "druthers.service"
_log = logging.getLogger(NAME)

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
    return f"{datetime.fromtimestamp(seconds, UTC).isoformat(timespec='milliseconds')[:-6]}Z"


class RequestRecord(logging.LogRecord):
    """A request: its message is a JSON object by who knows that no secret is in it."""

    def __init__(self, level: int, line: str) -> None:
        super().__init__(NAME, level, "", 0, line, None, None)


class JsonFormatter(logging.Formatter):
    """Write a record as one line of JSON, without the secrets in it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        if isinstance(record, RequestRecord):
            return request_line(record.created, record.levelname.lower(), record.msg)
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


def request_line(at: float, level: str, fields: str) -> str:
    """Return the line of a request: its fields, a JSON object, with the time and the level before them."""
    return f'{{"time":"{stamp(at)}","level":"{level}",{fields[1:]}'


class LineHandler(logging.StreamHandler[TextIO]):
    """Write records as lines of JSON; requests, of which there are many, by a short way."""

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__(stream)
        self.setFormatter(JsonFormatter())

    def write_request(self, level: str, fields: str) -> None:
        """Write the line of a request; a log that cannot be written, on a full disk say, is no reason to fail."""
        line = request_line(time.time(), level, fields) + "\n"
        self.acquire()
        try:
            self.stream.write(line)
            self.stream.flush()
        except Exception:
            self.handleError(RequestRecord(logging.INFO, fields))
        finally:
            self.release()


def log_request(level: int, fields: str) -> None:
    """Log a request, given as a JSON object: straight to our own handlers, as a record to any others."""
    logger: logging.Logger | None = _log
    while logger is not None:
        for handler in logger.handlers:
            if type(handler) is LineHandler:
                handler.write_request("info" if level == logging.INFO else "error", fields)
            elif level >= handler.level:
                handler.handle(RequestRecord(level, fields))
        logger = logger.parent if logger.propagate else None


def log_config(level: str = "info") -> dict[str, Any]:
    """Return the set-up of logging, ours and that of uvicorn, for `uvicorn.run(log_config=...)`.

    Uvicorn's own log of requests is off: it holds raw paths, and paths hold the ids of users.
    """
    ours = {"handlers": ["lines"], "level": level.upper(), "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "handlers": {"lines": {"()": LineHandler, "stream": "ext://sys.stderr"}},
        "loggers": {
            "druthers": ours,
            "uvicorn": ours,
            "uvicorn.access": {"handlers": [], "level": "CRITICAL", "propagate": False},
            "py.warnings": ours,
        },
    }
