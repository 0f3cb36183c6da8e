"""Comparison of two cluster configurations, as in ParallelCluster.

Source:
    https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/config/config_patch.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from trainyard.components.parallelcluster.references import Reference
from trainyard.components.parallelcluster.update_rules import Policy, Rule, rules

Section = Mapping[str, Any]
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One changed setting, or one added or removed section or list item."""

    path: Path
    """Parent sections: `("Scheduling", "SlurmQueues", "gpu")`. A list item has two steps, the list
    and its name."""
    key: str
    """The setting."""
    old: Any
    """Deployed value, if any."""
    new: Any
    """New value, if any."""
    policy: Policy
    item: str | None = None
    """Name of an added or removed list item, such as a queue."""

    @property
    def is_in_a_queue(self) -> bool:
        """Whether it is in a queue, to which the queue update strategy applies."""
        return "SlurmQueues" in self.path


def changes(deployed: Section, wanted: Section) -> Iterator[Change]:
    """Yield the changes, in the order of ParallelCluster's schema.

    CloudFormation converts numbers and booleans to strings, so `true` and `"true"` are equal here.
    A `Reference` is equal to any deployed value that it can be.
    """
    yield from _in_section(rules(), deployed, wanted, ())


def _in_section(rule: Rule, old: Section, new: Section, path: Path) -> Iterator[Change]:
    for key, setting in rule.settings.items():
        if setting.item_name is not None:
            yield from _in_list(setting, key, old, new, path)
        elif setting.settings:
            yield from _in_nested(setting, key, old.get(key), new.get(key), path)
        elif not same(old.get(key), new.get(key)):
            yield Change(
                path=path, key=key, old=old.get(key), new=new.get(key), policy=setting.policy
            )


def _in_nested(rule: Rule, key: str, old: Any, new: Any, path: Path) -> Iterator[Change]:
    if not old and not new:
        return
    if (old and new) or rule.policy is Policy.IGNORED:
        yield from _in_section(rule, old or {}, new or {}, (*path, key))
        return
    yield Change(path=path, key=key, old=old or None, new=new or None, policy=rule.policy)


def _in_list(rule: Rule, key: str, old: Section, new: Section, path: Path) -> Iterator[Change]:
    name_key = rule.item_name or "Name"
    before = {str(item.get(name_key)): item for item in old.get(key) or ()}
    after = {_item_name(item, name_key, before): item for item in new.get(key) or ()}
    for name in (*after, *(gone for gone in before if gone not in after)):
        if name in before and name in after:
            yield from _in_section(rule, before[name], after[name], (*path, key, name))
        else:
            yield Change(
                path=path,
                key=key,
                old=before.get(name),
                new=after.get(name),
                policy=rule.policy,
                item=name,
            )


def _item_name(item: Section, name_key: str, before: Mapping[str, Section]) -> str:
    """Return the name of a list item, for a `Reference` that of the deployed item it can be."""
    name = item.get(name_key)
    if isinstance(name, Reference):
        return next((each for each, old in before.items() if same(old, item)), name.name)
    return str(name)


def same(old: Any, new: Any) -> bool:
    """Return whether two values are equal after the conversion by CloudFormation."""
    if isinstance(new, Reference):
        return new.can_be(old)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        one, other = cast("Section", old), cast("Section", new)
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if _is_list(old) and _is_list(new):
        return len(old) == len(new) and all(map(same, old, new))
    return scalar(old) == scalar(new)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def scalar(value: Any) -> Any:
    """Return a plain value as CloudFormation passes it: numbers and booleans as strings."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value
