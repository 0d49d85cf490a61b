"""The command of the language: read."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from druthers.cli import options
from druthers.cli.options import argument, flag, listed_objectives, model_settings, option
from druthers.errors import InvalidSetting
from druthers.language import Parser, Reading, Scores, Sentence, evaluate, load_domain, load_sentences, make_parser
from druthers.terminal import make_console, table_of

app = typer.Typer()

_COLORS = ("cyan", "magenta", "yellow", "green", "blue", "red", "bright_cyan", "bright_magenta")
_MEASURES = ("n", "top1", "exact", "f1", "tau", "silence", "leak")


@app.command()
def read(
    text: Annotated[str | None, argument("TEXT", "What a user says.")] = None,
    objectives: options.Listed = None,
    domain: options.Domain = None,
    parser: options.Parser = "default",
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    key_variable: options.KeyVariable = None,
    evaluation: Annotated[
        Path | None, option("FILE", "Read the sentences of a JSON file and score the readings.", "--evaluate")
    ] = None,
    mistakes: Annotated[
        bool, flag("With --evaluate: show the sentences that were not read exactly.", "--mistakes")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Read a sentence: which objectives matter, in what order, and why.

    Works offline, unless a `--model` is named. Without `--objectives` or `--domain` it reads about hotels. With
    `--evaluate` it reads a file of sentences with their right readings and prints how well that went, for all, for each
    domain and each tag.

        druthers read "Clean and cheap, quiet at night, I don't mind the location"
        druthers read "light, but the battery matters more" --objectives weight,battery,price
        druthers read --evaluate sentences.json --parser lexicon
        druthers read "cheap and clean" --model llama3.1 --base-url http://localhost:11434/v1
    """
    settings = model_settings(model, base_url=base_url, key_variable=key_variable)
    parser = "llm" if settings else parser
    if evaluation is not None:
        _evaluate(load_sentences(evaluation), parser, settings, mistakes, as_json)
        return
    if text is None:
        raise InvalidSetting('there must be a text to read, but got none; try: druthers read "cheap and clean"')
    named = listed_objectives(objectives, domain)
    known = load_domain(domain or "hotels") if named is None else named
    reading = make_parser(parser, objectives=known, **settings).read(text)
    if as_json:
        print(json.dumps(reading.as_dict(), indent=2, ensure_ascii=False))
    else:
        _show(make_console(), reading)


def _show(console: Console, reading: Reading) -> None:
    """Print the text with its evidence in color, then the ranking and why."""
    console.print(highlighted(reading), end="\n\n", soft_wrap=True)
    if reading.ranking or reading.dismissed:
        console.print(ranked(reading))
    else:
        console.print("no wish found", style="dim")
    if reading.question:
        console.print(f"\nask back: {escape(reading.question)}", style="italic")
    for note in (*reading.notes, *(f"not understood: {piece[:200]}" for piece in reading.leftover)):
        console.print(escape(note), style="dim")


def highlighted(reading: Reading) -> Text:
    """Return the text with its evidence in color, what is dismissed struck out."""
    shown = Text(reading.text)
    for piece in reading.evidence:
        color = _COLORS[piece.objective % len(_COLORS)]
        shown.stylize(f"{color} strike" if piece.role == "dismissed" else f"bold {color}", piece.start, piece.end)
    return shown


def ranked(reading: Reading) -> Table:
    """Return what is wanted, most important first, and what is not, each with its evidence."""
    table = table_of("", "objective", "because", "sure", left=3, header_style="dim")
    for place, (objective, sure) in enumerate(zip(reading.ranking, reading.confidences, strict=True), 1):
        table.add_row(str(place), *_row(reading, objective, "bold "), f"{sure:.0%}")
    for objective in reading.dismissed:
        table.add_row("–", *_row(reading, objective, "strike "), "")
    return table


def _row(reading: Reading, objective: int, style: str) -> tuple[Text, Text]:
    color = _COLORS[objective % len(_COLORS)]
    pieces = [piece for piece in reading.evidence if piece.objective == objective]
    because = "; ".join(dict.fromkeys(f"“{piece.text}” {piece.why.partition(', ')[2]}".strip() for piece in pieces))
    return Text(reading.objectives[objective], style=style + color), Text(because)


def _evaluate(sentences: list[Sentence], parser: str, settings: dict[str, str], mistakes: bool, as_json: bool) -> None:
    parsers: dict[tuple[str, ...], Parser] = {}

    def reading(sentence: Sentence) -> Reading:
        if sentence.objectives not in parsers:
            parsers[sentence.objectives] = make_parser(parser, objectives=sentence.objectives, **settings)
        return parsers[sentence.objectives].read(sentence.query)

    pairs, scores = evaluate(sentences, reading)
    if as_json:
        print(json.dumps({name: _plain(part) for name, part in scores.items()}, indent=2))
        return
    console = make_console()
    table = table_of("", *_MEASURES, header_style="dim")
    for name, part in scores.items():
        table.add_row(name, *(_figure(asdict(part)[measure]) for measure in _MEASURES))
    console.print(table)
    for sentence, read_ in pairs if mistakes else ():
        if read_.names != sentence.gold:
            console.print(f"\n{escape(sentence.query)}", soft_wrap=True)
            right, found = (" > ".join(names) or "nothing" for names in (sentence.gold, read_.names))
            console.print(f"  right: {escape(right)}\n  read:  {escape(found)}", style="dim")


def _plain(part: Scores) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in asdict(part).items()}


def _figure(value: float) -> str:
    return str(value) if isinstance(value, int) else "" if math.isnan(value) else f"{value:.3f}"
