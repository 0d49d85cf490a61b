"""Columns of money: in the currency that another column tells, and 0 where a cell says that nothing is paid."""

import re
from collections.abc import Sequence
from typing import Any

from druthers.data.catalog.cells import MISSING
from druthers.data.catalog.roles import MONEY, has, tokens

BARE = re.compile(r"\d[\d.,'’ ]*")
FREE, NO_FEE = frozenset({"free", "gratis", "kostenlos", "gratuit"}), frozenset({"none", "no"})


def with_currencies(names: Sequence[str], columns: Sequence[list[Any]]) -> list[list[Any]]:
    """Return the columns of a table, bare numbers of money with the currency that stands in a column of its own.

    Examples
    --------
    >>> with_currencies(["price", "fee", "currency"], [["95", 80], ["none", "5"], ["EUR", "USD"]])
    [['95 EUR', '80 USD'], ['0 EUR', '5 USD'], ['EUR', 'USD']]
    """
    told = next((place for place, name in enumerate(names) if has(tokens(name)[-1:], "currencies")), None)
    written = ["" if told is None else str(cell).strip() for cell in columns[told or 0]] if columns else []
    currencies = ["" if text.casefold() in MISSING else text for text in written]
    return [
        _paid(name, cells, currencies) if _is_money(name) else cells for name, cells in zip(names, columns, strict=True)
    ]


def is_money(name: str) -> bool:
    """Tell whether a column is called like money, or ends with a currency."""
    return _is_money(name) or bool(set(tokens(name)) & MONEY)


def _is_money(name: str) -> bool:
    return has(tokens(name), "money") and not has(tokens(name)[-1:], "currencies")


def _paid(name: str, cells: list[Any], currencies: Sequence[str]) -> list[Any]:
    nothing = FREE | NO_FEE if has(tokens(name), "fees") else FREE
    numbers = any(BARE.match(str(cell)) for cell in cells)
    cells = ["0" if numbers and str(cell).strip().casefold() in nothing else cell for cell in cells]
    if set(tokens(name)) & MONEY:  # the name knows better
        return cells
    return [
        f"{cell} {currency}" if currency and BARE.fullmatch(str(cell).strip()) else cell
        for cell, currency in zip(cells, currencies, strict=True)
    ]
