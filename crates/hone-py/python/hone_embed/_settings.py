"""Settings of the library, and the parameters that give them."""

from __future__ import annotations

import json
from typing import Any

from hone_embed import _native
from hone_embed._graph import _plain

#: Settings, and the parameters that give them.
PARAMETERS = {
    "global.dim": "n_components",
    "local.dim": "n_local_components",
    "steps": "n_steps",
    "motifs": "motifs",
    "weights": "weights",
    "seed": "random_state",
}


def refuse_contradictions(given: dict[str, Any], settings: dict[str, Any]) -> None:
    """Refuses parameters and entries of ``config`` that mean two things; one would be ignored in silence."""
    for key, value in given.items():
        group, _, name = key.partition(".")
        inside = settings.get(group) if name else None
        if key in settings:
            _compare(key, value, settings[key])
        elif isinstance(inside, dict) and name in inside:
            _compare(key, value, inside[name])


def _compare(key: str, given: Any, configured: Any) -> None:
    def meant(value: Any) -> str:
        return _native.resolve("hone", None, json.dumps({key: value}, default=_plain))

    if given != configured and meant(given) != meant(configured):
        raise ValueError(
            f"{PARAMETERS[key]}: {given!r}, but config has {key!r}: {configured!r}; leave one of the two out"
        )
