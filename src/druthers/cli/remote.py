"""The catalog of a running service, over HTTP: what it is, and how it changes."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from druthers.advisor.updating import Changes
from druthers.catalogs import Catalog, Item
from druthers.errors import Contradiction, InvalidCatalog, InvalidSetting

PAGE = 1_000
TIMEOUT, PATIENCE = 60.0, 600.0  # seconds for an answer, and for a service that starts over
PAUSE = 0.2


class Remote:
    """A running service, by its address.

    Its key has the role `read` to look, `admin` to change.
    """

    def __init__(self, address: str, key: str = "") -> None:
        self._address = address.rstrip("/")
        self._headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        told = self._ask("GET", "/v1/catalog")
        self.number: int = told["number"]
        self.catalog = Catalog.from_content(told["catalog"], source=address)
        self._limits: dict[str, int] = told["limits"]

    def items(self) -> dict[str, Item]:
        """Return all items."""
        found: dict[str, Item] = {}
        after: str | None = ""
        while after is not None:
            page = self._ask("GET", "/v1/items?" + urlencode({"limit": PAGE, **({"after": after} if after else {})}))
            found |= {one["id"]: Item(**one) for one in page["items"]}
            after = page["next"]
        return found

    def apply(self, changes: Changes) -> None:
        """Change the catalog; every part is safe to repeat: what is interrupted is found again as a smaller change."""
        if changes.catalog is not None:
            body = {"catalog": changes.catalog.content(), "renamed": dict(changes.renamed), "number": self.number + 1}
            self._ask("POST", "/v1/catalog", body)
            self._wait(self.number + 1)
        for batch in self._batches(changes.put):
            answer = self._ask("PUT", "/v1/batch/items", {"entries": batch})
            refused = [one["problem"] for one in answer["results"] if one["status"] >= 400]
            if refused:
                raise InvalidCatalog(
                    f"every item must be taken, but {len(refused)} of {len(batch)} were refused, the first since"
                    f" {refused[0]}; correct them and apply again"
                )
        for id in changes.retired:
            self._ask("DELETE", f"/v1/items/{quote(id, safe='')}", missing=True)

    def _batches(self, items: Sequence[Item]) -> Iterator[list[dict[str, Any]]]:
        """Yield items in as few requests as the service takes."""
        batch: list[dict[str, Any]] = []
        size = 0
        for item in items:
            entry = item.content()
            length = len(json.dumps(entry)) + 2
            if batch and (len(batch) == self._limits["batch"] or size + length > self._limits["body_bytes"] - 100):
                yield batch
                batch, size = [], 0
            batch.append(entry)
            size += length
        if batch:
            yield batch

    def _wait(self, number: int) -> None:
        """Wait until the service has started over with another edition of its catalog."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                if self._ask("GET", "/v1/catalog")["number"] >= number and self._ask("GET", "/readyz"):
                    return
            except InvalidSetting:  # it is not there while it starts over
                pass
            time.sleep(PAUSE)
        raise InvalidSetting(
            f"a service must start over after its objectives changed, but {self._address} did not within"
            f" {PATIENCE:.0f} s; see its log, and apply again"
        )

    def _ask(self, method: str, path: str, body: Any = None, *, missing: bool = False) -> Any:
        data = None if body is None else json.dumps(body).encode()
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                request = urllib.request.Request(self._address + path, data, self._headers, method=method)
                with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                    content = answer.read()
                    return json.loads(content) if content else {}
            except urllib.error.HTTPError as error:
                told, pause = error.read(), error.headers.get("Retry-After", "")
                if error.code == 429 and time.monotonic() < deadline:
                    time.sleep(float(pause) if pause.isdecimal() else 1.0)
                    continue
                if error.code == 404 and missing:
                    return {}
                raise self._problem(error.code, told, path) from None
            except (OSError, ValueError) as error:
                raise InvalidSetting(
                    f"a service must answer at its address, but {self._address}{path}: {error}; see whether it runs"
                ) from None

    def _problem(self, code: int, told: bytes, path: str) -> Exception:
        try:
            detail = json.loads(told)["detail"]
        except (ValueError, KeyError, TypeError):
            detail = f"status {code}"
        if code in (401, 403):
            return InvalidSetting(f"a service must know the key, but {detail}; give one with --key or DRUTHERS_KEY")
        if code == 409:
            return Contradiction(str(detail))
        return InvalidSetting(
            f"a service must take what it is asked, but {self._address}{path} answers {code}: {detail}"
        )
