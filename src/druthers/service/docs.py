"""The description of the service as a page."""

from __future__ import annotations

import html
import json
from typing import Any


def page(document: dict[str, Any]) -> str:
    """Return an OpenAPI document as a page that needs nothing else."""
    return f"<!doctype html><title>druthers</title><pre>{html.escape(json.dumps(document, indent=1))}</pre>"
