"""Settings of the library, and the parameters that give them."""

from __future__ import annotations

import json
from typing import Any

from hone_embed import _native
from hone_embed._graph import _plain
from hone_embed._warnings import warn

#: Settings, and the parameters that give them.
PARAMETERS: dict[str, str] = dict(_native.parameters())


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


def warn_idle(given: dict[str, Any], settings: dict[str, Any], idle: list[tuple[str, str]]) -> None:
    """Warns of parameters and entries of ``config`` that have no effect, in one warning."""
    named = {key: PARAMETERS[key] for key in given}
    named.update({key: f"config[{key!r}]" for key in _dotted(settings) if key not in named})
    found = []
    for key, name in named.items():
        why = [why for group, why in idle if key == group or key.startswith(f"{group}.")]
        found += [f"{name} ({why[0]})"] if why else []
    if found:
        warn(f"no effect here: {', '.join(found)}")


def warn_of_result(report: dict[str, Any]) -> None:
    """Warns of what may make vectors other than they were meant."""
    for text in report["warnings"]:
        warn(text)


def _dotted(settings: dict[str, Any], before: str = "") -> list[str]:
    """Names of all settings, those of inner dictionaries with the names of the outer ones in front."""
    names = []
    for key, value in settings.items():
        inner = isinstance(value, dict) and bool(value)
        names += _dotted(value, f"{before}{key}.") if inner else [f"{before}{key}"]
    return names
