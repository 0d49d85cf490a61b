"""The other way: from a ranking to what a user would say who wants things in this order, or who says little.

>>> make_writer(objectives=["price", "location", "service"], seed=1).write([1, 0])
'Good morning. Most importantly, I need a good location. And then I care about something cheap.'
"""

from collections.abc import Callable, Iterable
from typing import Any

from druthers.errors import UnknownName, needs
from druthers.language.data import read_data
from druthers.language.writing.templates import TemplateWriter, Writer
from druthers.types import Objective


def _llm(
    objectives: Iterable[str | Objective],
    *,
    seed: int = 0,
    item: str | None = None,
    typos: float = 0.0,
    **settings: Any,
) -> Writer:
    needs("openai", "llm", load=False)
    from druthers.language.llm.texts import LlmWriter

    return LlmWriter(TemplateWriter(objectives, seed=seed, item=item, typos=typos), item=item, **settings)


# How each writer is made from objectives, a seed and settings.
WRITERS: dict[str, Callable[..., Writer]] = {"template": TemplateWriter, "llm": _llm}


def item_of(domain: str) -> str | None:
    """Return what is looked for in a domain, with its article, or None where it is not known.

    Examples
    --------
    >>> item_of("hotels")
    'a hotel'
    """
    found = read_data("writing.toml")["items"].get(domain)
    return None if found is None else str(found)


def make_writer(
    name: str = "template", *, objectives: Iterable[str | Objective], seed: int = 0, **settings: Any
) -> Writer:
    """Return a writer by its name.

    Parameters
    ----------
    name
        "template" writes offline, by templates; "llm" asks a language model and needs its `model` and, for all but
        OpenAI, a `base_url`.
    objectives
        What users may care about: names, or Objective values with synonyms and examples.
    seed
        The only source of chance, as far as templates go.
    settings
        Settings of the writer.

    Examples
    --------
    >>> make_writer(objectives=["price", "location"], seed=3, typos=0.2).write([1, 0])
    'Quck one: first the locaiton, thne prie. Thanks.'
    """
    if name not in WRITERS:
        raise UnknownName.of("writer", name, WRITERS)
    return WRITERS[name](objectives, seed=seed, **settings)
