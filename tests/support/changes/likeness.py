"""What decides the effects of an update besides names, so that stacks need not repeat each other.

Most of a stack has no part in the change of one key: a node group with another root volume changes
in the same way in each VPC. Two EKS stacks must answer alike if the same parts of their plans
change in the same fields, and these parts make the same choices: a reservation or none, who manages
the nodes, which accelerators they have. Only one of such stacks has to be computed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Mapping
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from tests.support.changes.names import NAME
from trainyard.components.catalog.instance_types import InstanceType
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.eks.node_group_plan import SYSTEM_NODE_GROUP
from trainyard.components.eks.plan import EksPlan

_EVERYWHERE = {"name", "tags", "network", "node_authorization"}
"""Fields of the plan on which resources of all its parts depend."""
_NAMED_BY_USERS = {"node_groups", "file_systems"}
_MANY = 2
"""Numbers count as none, one and several."""

Part = tuple[str, str]
"""Field of the plan, and the name of one of its entries."""


def likeness(before: EksPlan, after: EksPlan) -> Hashable | None:
    """Return what decides the effects of an update, or None if it can be the whole stack."""
    old, new = dict(_parts(before)), dict(_parts(after))
    changed = [part for part in sorted({*old, *new}) if old.get(part) != new.get(part)]
    if any(_concerns_all(part, old, new) for part in changed):
        return None
    return frozenset(_decisive(part, old.get(part), new.get(part)) for part in changed)


def _parts(plan: EksPlan) -> Iterator[tuple[Part, Any]]:
    for field in dataclasses.fields(plan):
        value = getattr(plan, field.name)
        if isinstance(value, Mapping) and field.name != "tags":
            yield from (((field.name, name), entry) for name, entry in value.items())
        elif isinstance(value, tuple) and any(map(dataclasses.is_dataclass, value)):
            yield from (((field.name, entry.name), entry) for entry in value)
        else:
            yield (field.name, ""), value


def _concerns_all(part: Part, old: Mapping[Part, Any], new: Mapping[Part, Any]) -> bool:
    # Plugins and policies depend on which node groups exist.
    comes_or_goes = part not in old or part not in new
    return part[0] in _EVERYWHERE or (part[0] == "node_groups" and comes_or_goes)


def _decisive(part: Part, old: Any, new: Any) -> Hashable:
    field, name = part
    users = field in _NAMED_BY_USERS and name != SYSTEM_NODE_GROUP
    return (
        (field, NAME if users else name),
        frozenset(_choices(old)),
        frozenset(_choices(new)) if old is None else None,
        frozenset(_differences(old, new)),
        _reserved(old),
    )


def _reserved(pool: Any) -> Hashable:
    """Return the exact size of a pool in a reservation, whose instances are counted."""
    if isinstance(pool, NodePoolPlan) and pool.capacity.reservation_id:
        return pool.capacity.reservation_id, pool.nodes, pool.most_nodes
    return None


def _choices(value: Any, annotation: Any = None, path: str = "") -> Iterator[Hashable]:
    """Yield the values of a part that are not names, ids or free text, by field."""
    if isinstance(value, InstanceType):
        yield path, value.accelerators and value.accelerators.manufacturer
    elif dataclasses.is_dataclass(value) or isinstance(value, BaseModel):
        for field, hint in _fields(type(value)).items():
            yield from _choices(getattr(value, field), hint, f"{path}.{field}")
    elif isinstance(value, int):
        yield path, value if isinstance(value, bool) else min(value, _MANY)
    elif isinstance(value, str) and _is_choice(annotation):
        yield path, value


def _differences(old: Any, new: Any, path: str = "") -> Iterator[Hashable]:
    """Yield the fields that change, with whether they were and are set."""
    if old == new:
        return
    if type(old) is type(new) and (dataclasses.is_dataclass(old) or isinstance(old, BaseModel)):
        for field in _fields(type(old)):
            yield from _differences(getattr(old, field), getattr(new, field), f"{path}.{field}")
    else:
        yield path, old is None, new is None


@cache
def _fields(record: type) -> Mapping[str, Any]:
    hints = get_type_hints(record)
    if issubclass(record, BaseModel):
        return {name: hints[name] for name in record.model_fields}
    return {field.name: hints[field.name] for field in dataclasses.fields(record)}


def _is_choice(annotation: Any) -> bool:
    return get_origin(annotation) is Literal or any(map(_is_choice, get_args(annotation)))
