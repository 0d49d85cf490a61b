"""Connections: how many there may be, and how much and how long each may send, before anything of it is understood."""

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from druthers.service.problems import problem_response
from druthers.service.settings import Settings

# A body that comes in chunks of one byte each takes six times its length.
CHUNKED = 8


class BoundedProtocol(HttpToolsProtocol):
    """HTTP/1.1 as uvicorn speaks it, for callers who may be slow, endless or many on purpose.

    When all connections are taken, the one that has been waiting for its caller for longest gives way; those whose
    request is being worked on never do. An answer may wait for its reader as long as headers, and then a body, may take
    to arrive.
    """

    def __init__(self, *given: Any, most: int, settings: Settings, **more: Any) -> None:
        super().__init__(*given, **more)
        self._most = most  # connections that may be open at a time
        self._settings = settings
        self._missing = "headers"  # what has not arrived yet of the present request; nothing once it is whole
        self._received = 0
        self._since = self.loop.time()
        self._unanswered = 0
        self._deadline: asyncio.TimerHandle | None = None
        self._reader_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request; somebody has to go if there are too many."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self._settings.arrival_seconds, self._look)
        if len(self.connections) > self._most:
            others = [one for one in self.connections if isinstance(one, BoundedProtocol) and one.is_waiting]
            longest = min(others, key=lambda one: (one._since, one is self))  # many come at the same tick of the loop
            if longest is self:
                self._refuse(503, f"this service takes {self._most} connections, and all are in use")
            else:
                longest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget all deadlines."""
        for timer in (self._deadline, self._reader_deadline):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    @property
    def is_waiting(self) -> bool:
        """Whether it is the caller's turn."""
        return bool(self._missing) or not self._unanswered

    def data_received(self, data: bytes) -> None:
        """Take in what arrived, no more of it at a time than there is room for."""
        while data and not self.transport.is_closing():
            if not self._missing:
                self._expect("headers")
            room = self._limit() - self._received
            part, data = data[:room], data[room:]
            self._received += len(part)
            super().data_received(part)
            if self._missing and self._received >= self._limit():
                self._refuse(431 if self._missing == "headers" else 413, self._law())
        if self._missing and self._deadline is None:
            self._deadline = self.loop.call_later(self._settings.arrival_seconds, self._look)
        elif not self._missing and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def on_header(self, name: bytes, value: bytes) -> None:
        """Note a header; those that come after a body are not used."""
        if self._missing == "headers":
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin to work, and to wait for the body."""
        self._unanswered += 1
        self._expect("body")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Wait for no more."""
        self._missing = ""
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._unanswered -= 1
        self._since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Wait for who does not read the answer, for a while."""
        super().pause_writing()
        self._reader_deadline = self.loop.call_later(self._settings.arrival_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on."""
        super().resume_writing()
        if self._reader_deadline is not None:
            self._reader_deadline.cancel()
            self._reader_deadline = None

    def send_400_response(self, msg: str) -> None:
        """Tell that this is no HTTP."""
        self._refuse(400, "a request must be HTTP/1.1, but this is not; see RFC 9112")

    def _expect(self, part: str) -> None:
        self._missing, self._received, self._since = part, 0, self.loop.time()

    def _limit(self) -> int:
        if self._missing == "headers":
            return self._settings.max_header_bytes
        return CHUNKED * self._settings.max_body_bytes + self._settings.max_header_bytes

    def _law(self) -> str:
        if self._missing == "headers":
            return f"the headers of a request may have {self._settings.max_header_bytes} bytes, but these have more"
        return f"a body may have {self._settings.max_body_bytes} bytes, but this one has more; send less at a time"

    def _look(self) -> None:
        """See whether the part that is missing is late: it may have begun after the deadline was set."""
        seconds = self._settings.arrival_seconds
        left = self._since + seconds - self.loop.time()
        self._deadline = None
        if left > 0:
            self._deadline = self.loop.call_later(left, self._look)
        elif self._missing:
            self._refuse(408, f"the {self._missing} must arrive within {seconds:g} s, but did not")

    def _refuse(self, status: int, detail: str) -> None:
        """Say why, unless an answer is already under way, and end the connection."""
        if self.transport.is_closing():
            return
        if self._unanswered == 0:
            response = problem_response(status, detail, "", headers={"Connection": "close"})
            head = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()]
            head += [name + b": " + value for name, value in response.raw_headers]
            self.transport.write(b"\r\n".join([*head, b"", bytes(response.body)]))
        self.transport.close()
