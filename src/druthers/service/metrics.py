"""What Prometheus is told: latencies, decisions, what was understood, how far behind the journal we are."""

import math
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, Summary
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

MEDIA_TYPE = CONTENT_TYPE_LATEST
SHARED = "PROMETHEUS_MULTIPROC_DIR"

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class Metrics:
    """The figures of one service, in a registry of their own.

    Several processes that share a folder (see `shared_metrics`) tell the same: their figures together.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.decided(regret=0.05)
    >>> metrics.heard(understood=False)
    >>> metrics.value("druthers_decisions_total"), metrics.value("druthers_queries_total", understood="no")
    (1.0, 1.0)
    """

    def __init__(self) -> None:
        self.registry = own = CollectorRegistry()
        gauge = partial(Gauge, registry=own)
        if SHARED not in os.environ:
            ProcessCollector(registry=own)
        self._seconds = Histogram(
            "druthers_request_seconds",
            "Time to answer, by route and class of status.",
            ["method", "route", "status"],
            buckets=_SECONDS,
            registry=own,
        )
        self._decisions = Counter("druthers_decisions", "Decisions made.", registry=own)
        self._regret = Summary(
            "druthers_regret_proxy",
            "Best estimated utility in an offer less that of what was shown; its mean is what optimism costs.",
            registry=own,
        )
        queries = Counter(
            "druthers_queries", "Queries heard, by whether anything was understood.", ["understood"], registry=own
        )
        self._queries = {understood: queries.labels("yes" if understood else "no") for understood in (True, False)}
        self._feedback = Counter("druthers_feedback", "Feedback taken in, by what it was.", ["outcome"], registry=own)
        self._events = Counter("druthers_events_applied", "Events of the journal folded into memory.", registry=own)
        about = "Position up to which the journal is folded."
        self._position = gauge("druthers_journal_position", about, multiprocess_mode="livemin")
        about = "Events of the journal that are not folded yet."
        self._lag = gauge("druthers_journal_lag_events", about, multiprocess_mode="livemax")
        self.residents = gauge("druthers_resident_users", "Users in memory.", multiprocess_mode="livesum")
        about = "When the last snapshot was taken, since 1970: its age is time() less this."
        self.snapshot = gauge("druthers_snapshot_time_seconds", about, multiprocess_mode="max")

    def timer(self, method: str, route: str, status: int) -> Callable[[float], None]:
        """Return what notes the seconds of requests to a route; `route` is the template of its path, never the path."""
        return self._seconds.labels(method, route, f"{status // 100}xx").observe

    def decided(self, regret: float) -> None:
        """Note a decision: how much the best estimated utility in the offer exceeds that of what was shown first."""
        self._decisions.inc()
        if math.isfinite(regret):
            self._regret.observe(regret)

    def heard(self, *, understood: bool) -> None:
        """Note a query, and whether anything in it was understood."""
        self._queries[bool(understood)].inc()

    def learned(self, outcome: str = "new") -> None:
        """Note feedback: "new", "revised", "repeated" or "contradicted"."""
        self._feedback.labels(outcome).inc()

    def followed(self, *, events: int, position: int, last: int) -> None:
        """Note that events were folded, up to which position, and where the journal ends."""
        self._events.inc(events)
        self._position.set(position)
        self._lag.set(max(last - position, 0))

    def value(self, name: str, **labels: str) -> float | None:
        """Return a figure as it stands in this process; None if there is none yet."""
        return self.registry.get_sample_value(name, labels)

    def render(self) -> bytes:
        """Return all figures as Prometheus reads them (`MEDIA_TYPE`)."""
        if SHARED not in os.environ:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)


@contextmanager
def shared_metrics() -> Iterator[str]:
    """Let processes started inside share their figures, through a folder that is gone afterwards.

    The folder must be named before the processes import this module: their parent enters here before it starts them.
    """
    with tempfile.TemporaryDirectory(prefix="druthers-metrics-") as folder:
        before = os.environ.get(SHARED)
        os.environ[SHARED] = folder
        try:
            yield folder
        finally:
            if before is None:
                del os.environ[SHARED]
            else:
                os.environ[SHARED] = before


def leave() -> None:
    """Take a process that ends out of the figures of living ones."""
    if SHARED in os.environ:
        mark_process_dead(os.getpid())  # type: ignore[no-untyped-call]
