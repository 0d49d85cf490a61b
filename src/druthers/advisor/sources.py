"""Which code and data a fold's numbers come from, as a digest: no state of others is ever taken for its own."""

import inspect
import secrets
from pathlib import Path

from druthers.anchors import Anchor
from druthers.errors import InvalidSetting
from druthers.own import own_sources
from druthers.policies import Policy
from druthers.sources import PACKAGE, digest, our_digest


def digest_of(policy: Policy) -> str:
    """Return a digest of the sources of a fold with this policy and of all of this package that they import or read.

    A policy from a file of one's own counts with that file and those beside it that it imports; one that has no file is
    like no other.
    """
    parts = (policy, *(value for value in policy.params.values() if isinstance(value, Anchor)))
    files = {PACKAGE / "advisor" / "fold.py"}
    try:
        for kind in (kind for part in parts for kind in type(part).__mro__):
            if issubclass(kind, Policy | Anchor):
                files.add(Path(inspect.getfile(kind)))
        own = {beside for file in files if not file.is_relative_to(PACKAGE) for beside in own_sources(file)}
    except (OSError, TypeError, InvalidSetting):
        return secrets.token_hex(16)
    return digest(frozenset(files | own)) if own else our_digest(frozenset(files))
