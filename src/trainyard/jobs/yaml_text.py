"""Manifests as text, in which people can read the scripts of containers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml


def dump_documents(documents: Iterable[Mapping[str, Any]]) -> str:
    """Return the objects of a manifest as YAML, with scripts as block scalars."""
    return yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, width=100, explicit_start=True)


class _Dumper(yaml.SafeDumper):
    """Writes scripts as block scalars, without anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
