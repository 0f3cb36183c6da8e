"""Labels and taints that nodes of Terraform get from their user data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.importing.draft import Draft
from trainyard.importing.placeholders import is_placeholder
from trainyard.importing.reader import Reader
from trainyard.importing.terraform.source_keys import Source
from trainyard.importing.user_data import MARKS_OF_LABELS, decoded, said_in

_PARTS = ("cloudinit_pre_nodeadm", "cloudinit_post_nodeadm")
_TEXTS = ("pre_bootstrap_user_data", "bootstrap_extra_args", "post_bootstrap_user_data")
"""Inputs of the modules for user data: `modules/_user_data/variables.tf` of the module."""
_ENCODED = "user_data"
_WHY = "the labels and taints in it; run a DaemonSet for other settings of nodes"


def read_user_data(source: Source, nodes: Draft, *, is_system: bool) -> None:
    """Read labels and taints of a node group that its own keys do not have.

    The system node group has no taints.
    """
    for place, said in _said(source):
        labels = {
            key: value
            for key, value in said.get("labels", {}).items()
            if not key.startswith(MARKS_OF_LABELS) and not is_placeholder(f"{key}{value}")
        }
        taints = [
            each
            for each in said.get("taints", [])
            if not is_system and not any(map(is_placeholder, each.values()))
        ]
        for key, value in labels.items():
            nodes.section("labels").values.setdefault(key, value)
        if taints and not nodes.has("taints"):
            nodes.put("taints", taints)
        _claim(place, nodes, labels, taints)


def _said(source: Source) -> Iterator[tuple[Reader, dict[str, Any]]]:
    """Yield the places of user data and what they say, which a plan has as a mapping."""
    parts = (each.at("content") for key in _PARTS for each in source.at(key).items())
    for place in (*parts, *map(source.at, _TEXTS)):
        if isinstance(place.value, str):
            yield place, said_in(place.value)
    encoded = source.at(_ENCODED)
    if isinstance(encoded.value, dict):
        yield encoded, encoded.value
    elif isinstance(encoded.value, str):
        yield encoded, said_in(decoded(encoded.value) or encoded.value)


def _claim(place: Reader, nodes: Draft, labels: dict[str, str], taints: list[Any]) -> None:
    whole = {"labels": labels, "taints": taints}
    for key, taken in whole.items():
        if not taken:
            continue
        ours = (*nodes.at, key)
        if isinstance(place.value, dict):
            place.at(key).claim("taken over", ours=ours)
        else:
            place.claim("taken over", _WHY, ours=ours)
    if isinstance(place.value, dict):
        place.at("nodeConfig").implied("the stack writes the NodeConfig")
        place.at("localStorage").implied("it is the default of `local_nvme`")
