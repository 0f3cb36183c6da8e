"""Instance types of the catalog, for tests that cover all of them."""

from __future__ import annotations

from itertools import groupby

import pytest

from trainyard.components.catalog.instance_types import INSTANCE_TYPES, InstanceType

_FAMILIES = {
    family: list(members)
    for family, members in groupby(INSTANCE_TYPES.values(), key=lambda each: each.family)
}
each_family = pytest.mark.parametrize("family", _FAMILIES.values(), ids=_FAMILIES)
"""Parametrize a test with the list of types of each family."""


def _interfaces(found: InstanceType) -> tuple[object, ...]:
    return found.efa_interfaces, found.network_cards, found.ipv4_addresses_per_interface


EFA_TYPES = list(
    {_interfaces(each): each for each in INSTANCE_TYPES.values() if each.efa_supported}.values()
)
"""Types with EFA: one of each arrangement of interfaces."""
