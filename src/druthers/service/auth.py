"""Who may do what: API keys with roles, kept as hashes, and how often."""

import hashlib
import hmac
import math
import re
import secrets
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from druthers.advisor import events
from druthers.errors import InvalidSetting
from druthers.service.problems import Problem
from druthers.service.settings import is_loopback
from druthers.stores import Event

# Each role may do what those before it may; "public" routes ask for none.
ROLES = ("public", "read", "decide", "admin")
LEVELS = {role: level for level, role in enumerate(ROLES)}

Headers = Mapping[bytes, bytes]

_KEY = re.compile(rb"druthers_([0-9a-f]{12})_[0-9a-f]{64}")
_NOBODY = "0" * 64
_REMEMBERED = 1000  # hosts and digests of keys that are not worked out again
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="druthers"'}
_REFUSED = {"WWW-Authenticate": 'Bearer realm="druthers", error="invalid_token"'}


class Key(NamedTuple):
    """What is kept of an API key; the key itself is shown once, to its owner."""

    id: str  # how it is called in logs and lists
    # SHA-256 of the whole key, in hex. The key holds 256 random bits, so that no slower hash is needed.
    digest: str
    role: str  # "read", "decide" or "admin"
    name: str = ""  # what it is for, in its owner's words
    created: float = 0.0  # moments, in seconds since 1970; a key that was not revoked has None
    revoked: float | None = None


def key_event(key: Key) -> Event:
    """Return what the journal keeps of a new key."""
    body = {part: getattr(key, part) for part in ("id", "digest", "role", "name")}
    return events.make(events.KEY, body, key=f"{events.KEY}:{key.id}")


def make_key(role: str, name: str = "", *, now: float | None = None) -> tuple[str, Key]:
    """Return a new key for its owner, and what is to be kept of it.

    Examples
    --------
    >>> text, key = make_key("decide", "web shop")
    >>> text.startswith(f"druthers_{key.id}_"), key.digest == digest(text.encode())
    (True, True)
    """
    if role not in ROLES[1:]:
        raise InvalidSetting(f"the role of a key must be one of {', '.join(ROLES[1:])}, but got {role!r}")
    id = secrets.token_hex(6)
    text = f"druthers_{id}_{secrets.token_hex(32)}"
    return text, Key(id, digest(text.encode()), role, name, time.time() if now is None else now)


@lru_cache(_REMEMBERED)
def digest(presented: bytes) -> str:
    """Return what is kept of a key."""
    return hashlib.sha256(presented).hexdigest()


class Caller(NamedTuple):
    """Who is calling: the id of a key, and its role; no id where keys are off. What they do counts for a bucket."""

    key: str | None
    role: str
    bucket: str = ""


ANYBODY = Caller(None, "public")
# Headers by which a proxy tells that it passes a request on for somebody else.
PASSED_ON = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip", b"via")


class Limiter:
    """A bucket of tokens for each caller: `burst` of them, refilled at `rate` per second.

    Whoever has a token left may do any work, and pays for all of it: work of more tokens than are left is owed, and
    has to be waited for the next time. Of each bucket only the moment is kept at which it will be full again; full
    ones are forgotten, and where there are too many buckets, those that were filled longest ago. A rate of 0 is no
    limit.

    Examples
    --------
    >>> limiter = Limiter(rate=2.0, burst=3)
    >>> [limiter.wait("ada", now=0.0) for _ in range(5)]
    [0.0, 0.0, 0.0, 0.5, 0.5]
    >>> limiter.charge("eve", 10, now=0.0)
    >>> limiter.wait("eve", now=0.0)
    4.0
    """

    def __init__(self, rate: float, burst: int, most: int = 10_000) -> None:
        self.rate, self.burst, self.most = rate, burst, most
        self._step = 1.0 / rate if rate else 0.0
        self._slack = self._step * (burst - 1)
        self._full: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._full)

    def wait(self, caller: str, now: float) -> float:
        """Take a token and return 0, or return the seconds until there is one."""
        if not self.rate:
            return 0.0
        full = max(self._full.get(caller, now), now)
        if full - now > self._slack + 1e-9:
            return full - now - self._slack
        self.charge(caller, 1, now)
        return 0.0

    def charge(self, caller: str, tokens: int, now: float) -> None:
        """Take tokens, whether or not there are so many."""
        if self.rate and tokens > 0:
            if len(self._full) >= self.most and caller not in self._full:
                waiting = sorted((full, other) for other, full in self._full.items() if full > now)
                self._full = {other: full for full, other in waiting[-(self.most // 2) :]}
            self._full[caller] = max(self._full.get(caller, now), now) + self._step * tokens


class Gate:
    """Decide about callers, in a few microseconds.

    `keys` returns the keys by id as they are now, or raises what stands against any request; called for every request,
    it should only hand out a dict. Where no key is required, callers are trusted because nobody else can reach a
    loopback address. A browser can, on behalf of any page that it shows, so Host and Origin must then be loopback
    names; a proxy can, on behalf of anybody, so nothing may say that one passed the request on. The limiter counts by
    key; by address, where keys are off or none was recognized.
    """

    def __init__(
        self,
        keys: Callable[[], Mapping[str, Key]],
        *,
        required: bool,
        limiter: Limiter,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.required = required
        self._keys = keys
        self._limiter = limiter
        self._clock = clock

    def admit(self, headers: Headers, role: str, client: str = "", version: str = "1.1") -> Caller:
        """Return who is calling, or refuse: 401 for no valid key, 429 for too many calls, 403 for too low a role."""
        if role == "public":
            return ANYBODY
        keys = self._keys()
        if self.required:
            try:
                key = self._recognize(headers, keys)
            except Problem:
                self.limit(client)
                raise
            caller = Caller(key.id, key.role, key.id)
        else:
            self._require_local(headers, version)
            caller = Caller(None, "admin", client)
        self.limit(caller.bucket)
        if LEVELS[caller.role] < LEVELS[role]:
            raise Problem(403, f"this needs a key with the role {role}, but this one has the role {caller.role}")
        return caller

    def limit(self, bucket: str) -> None:
        """Take a token from a bucket, or refuse."""
        wait = self._limiter.wait(bucket, self._clock())
        if wait > 0:
            raise Problem(
                429,
                f"a caller may send {self._limiter.rate:g} requests per second and {self._limiter.burst} at once, each"
                f" entry of a batch counted, but this one sent more; wait {wait:.3g} s",
                {"Retry-After": str(math.ceil(wait))},
            )

    def charge(self, caller: Caller, more: int) -> None:
        """Count so much more work than one request."""
        self._limiter.charge(caller.bucket, more, self._clock())

    def _recognize(self, headers: Headers, keys: Mapping[str, Key]) -> Key:
        presented = _presented(headers)
        match = _KEY.fullmatch(presented)
        if match is None:
            raise Problem(401, "a key looks like druthers_ID_SECRET, but this one does not", _REFUSED)
        key = keys.get(match[1].decode())
        # An unknown id takes as long as a wrong secret, and is told the same.
        if not hmac.compare_digest(digest(presented), key.digest if key else _NOBODY) or key is None:
            raise Problem(401, "a key must be one of this service, but this one is not", _REFUSED)
        if key.revoked is not None:
            raise Problem(401, "a key must be in force, but this one was revoked; ask for another", _REFUSED)
        return key

    def _require_local(self, headers: Headers, version: str) -> None:
        remedy = "start it with keys = required to serve others"
        for name in PASSED_ON:
            if name in headers:
                raise Problem(
                    403,
                    "a service without keys takes requests of this machine only, but the header"
                    f" {name.decode().title()} tells that a proxy passed this one on; {remedy}",
                )
        if version == "1.0":  # as nginx speaks to whom it passes requests on, without any of those headers
            raise Problem(
                403,
                "a service without keys takes requests of this machine only, but proxies speak HTTP/1.0, as this one"
                f" does; use HTTP/1.1, or {remedy}",
            )
        for name in (b"host", b"origin"):
            if name in headers and not _is_local(headers[name]):
                raise Problem(
                    403,
                    f"a service without keys takes requests to and from this machine only, but the header"
                    f" {name.decode().title()} names another; call it as localhost, or start it with keys = required",
                )


def _presented(headers: Headers) -> bytes:
    """Return the key that a request shows, wherever it does."""
    if (value := headers.get(b"authorization")) is not None:
        scheme, _, key = value.strip().partition(b" ")
        if scheme.lower() != b"bearer":
            raise Problem(401, "the header Authorization must be Bearer KEY, but it is something else", _REFUSED)
        return key.strip()
    for name in (b"x-api-key", b"ocp-apim-subscription-key"):
        if (value := headers.get(name)) is not None:
            return value.strip()
    raise Problem(401, "a key is needed, but none came; send the header Authorization: Bearer KEY", _CHALLENGE)


@lru_cache(_REMEMBERED)
def _is_local(value: bytes) -> bool:
    text = value.decode("latin-1")
    try:
        return is_loopback(urlsplit(text if "://" in text else f"//{text}").hostname or "")
    except ValueError:
        return False
