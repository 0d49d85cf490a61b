"""What a JSON schema says: in words, as rows of a table, as an example."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from druthers.service.schemas import ID

Schema = Mapping[str, Any]

DEEPEST = 4
# What stands for a field in examples, by its name; others get the smallest value that their law allows.
EXAMPLES: dict[str, Any] = {
    "text": "cheap and clean, quiet if possible",
    "size": 3,
    "utility": 0.9,
    "user": "ada",
    "decision": "visit-1",
    "item": "old-mill",
    "key": "0123456789ab",
    "position": 64,
    "report": "synthetic-3x500",
    "experiment": "synthetic",
    "name": "The Old Mill",
    "description": "By the river, with a garden.",
    "value": 1,
    "eventId": "rank-1",
    "actions": [{"id": "old-mill"}, {"id": "new-mill"}],
    "contextFeatures": [{"user": "ada"}, {"text": "cheap and clean"}],
    "features": [],
}
# Fields that an example shows though they may be left out.
TELLING = ("text", "size", "utility", "rewards", "values", "weights", "name", "eventId", "contextFeatures")


class Row(NamedTuple):
    """A field: its path, its kind in words, whether it must be there, and what it is."""

    name: str
    kind: str
    required: bool
    about: str


class Shapes:
    """Reads the schemas of an OpenAPI document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.known: Mapping[str, Schema] = document.get("components", {}).get("schemas", {})

    def resolve(self, schema: Schema) -> Schema:
        """Return what a reference leads to, and of a choice with null the other one."""
        while True:
            if "$ref" in schema:
                schema = self.known[schema["$ref"].rpartition("/")[2]]
            elif parts := [part for part in schema.get("anyOf", ()) if part.get("type") != "null"]:
                if "properties" in schema or len(parts) > 1:
                    return schema
                schema = {**parts[0], **{key: schema[key] for key in ("description", "default") if key in schema}}
            else:
                return schema

    def words(self, schema: Schema) -> str:
        """Return the kind of a value.

        Examples
        --------
        >>> shapes = Shapes({})
        >>> shapes.words({"type": "array", "items": {"type": "string", "maxLength": 9}, "maxItems": 3})
        'list of text, up to 9 characters; up to 3'
        >>> shapes.words({"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "null"}]})
        'number, 0 to 1, or null'
        """
        null = any(part.get("type") == "null" for part in schema.get("anyOf", ()))
        found = self.resolve(schema)
        return self._words(found) + (", or null" if null else "")

    def _words(self, schema: Schema) -> str:
        if "enum" in schema:
            return f"one of {', '.join(map(str, schema['enum']))}"
        kind = schema.get("type")
        if kind == "array":
            items = self.words(schema.get("items", {})).removeprefix("one of ")
            plural = "s" if items in ("id", "object", "text", "number") else ""
            return f"list of {items}{plural}" + _span(schema, "Items", "; ", "")
        if kind is None and "anyOf" in schema:
            return " or ".join(dict.fromkeys(map(self.words, schema["anyOf"])))
        if schema.get("pattern") == ID:
            return "id"
        if kind == "string":
            return "text" + _span(schema, "Length", ", ", " characters")
        if kind in ("integer", "number"):
            word = "whole number" if kind == "integer" else "number"
            low, high = schema.get("minimum"), schema.get("maximum")
            if low is not None and high is not None:
                return f"{word}, {low:g} to {high:g}"
            return word if low is None else f"{word}, {low:g} or more"
        if kind == "object":
            more = schema.get("additionalProperties")
            return f"table of {self.words(more)}" if isinstance(more, Mapping) and more else "object"
        return {"boolean": "true or false", "null": "null"}.get(str(kind), "anything")

    def rows(self, schema: Schema, prefix: str = "", depth: int = 0) -> Iterator[Row]:
        """Yield the fields of an object, those of objects in it with their path before them."""
        found = self.resolve(schema)
        if found.get("type") == "array" and not prefix:
            yield from self.rows(found.get("items", {}), "[].", depth + 1)
            return
        required = found.get("required", ())
        for name, part in found.get("properties", {}).items():
            inner = self.resolve(part)
            about = part.get("description") or inner.get("description") or ""
            yield Row(prefix + name, self.words(part), name in required, about)
            path = f"{prefix}{name}."
            if inner.get("type") == "array":
                path, inner = f"{prefix}{name}[].", self.resolve(inner.get("items", {}))
            if depth < DEEPEST and "properties" in inner:
                yield from self.rows(inner, path, depth + 1)

    def example(self, schema: Schema, name: str = "") -> Any:
        """Return a value that a schema allows: what must be there, and what is worth showing."""
        found = self.resolve(schema)
        if "properties" in found:
            parts: Mapping[str, Schema] = found["properties"]
            must = found.get("required", ())
            shown = [part for part in parts if part in must or part in TELLING or "examples" in parts[part]]
            if not shown and name in ("values", "rewards", "weights"):
                shown = list(parts)[:1]
            return {part: self.example(parts[part], part) for part in shown}
        if name in EXAMPLES or "examples" in schema:
            return schema["examples"][0] if "examples" in schema else EXAMPLES[name]
        if found.get("enum"):
            return found["enum"][0]
        if found.get("type") == "array":
            one = self.resolve(found.get("items", {}))
            return one["enum"][:2] if "enum" in one else [self.example(one)]
        if found.get("type") in ("integer", "number"):
            return found.get("default", found.get("maximum", found.get("minimum", 1)))
        return {"boolean": False, "object": {}}.get(str(found.get("type")), "old-mill")


def _span(schema: Schema, what: str, before: str, after: str) -> str:
    least, most = schema.get(f"min{what}", 0), schema.get(f"max{what}")
    if most is None:
        return ""
    return f"{before}{least} to {most}{after}" if least > 1 else f"{before}up to {most}{after}"
