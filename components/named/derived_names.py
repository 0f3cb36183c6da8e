"""Checks that derived names fit into the limits of AWS.

Pulumi derives physical names from logical names, which contain the name of the stack. Names that
are too long would fail during `up`, so they are refused before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trainyard.components.config.network import NewVpc
from trainyard.components.config.problems import Review
from trainyard.components.config.stack import StackConfig
from trainyard.components.naming import IAM_ROLE_NAME_LIMIT, excess_length


@dataclass(frozen=True, slots=True)
class DerivedName:
    """A logical name of a resource, with the limit of its physical name."""

    pattern: str
    """With the fields `stack` and, for a resource of a part of the stack, `part`."""
    limit: int
    resource: str
    """What the resource is, in messages."""

    def logical(self, stack: str, part: str = "") -> str:
        """Return the logical name."""
        return self.pattern.format(stack=stack, part=part)

    def excess(self, stack: str, part: str = "") -> int:
        """Return the number of characters by which the physical name exceeds its limit."""
        return excess_length(self.logical(stack, part), self.limit)


@dataclass(frozen=True, slots=True)
class NamedPart:
    """An entry of the architecture, such as a node group, from whose name others are derived."""

    section: str
    """Key of the entry's section in the architecture."""
    noun: str
    name: str
    derived: tuple[DerivedName, ...]
    entry: str
    """Name of the entry in the stack file."""


NODE_ROLE = DerivedName("{stack}-{part}-role", IAM_ROLE_NAME_LIMIT, "its IAM role")
_FLOW_LOGS_ROLE = DerivedName(
    "{stack}-network-flow-logs-role", IAM_ROLE_NAME_LIMIT, "the IAM role of the flow logs"
)
_SHORTEST_PART = "x"


def has_flow_logs(config: StackConfig) -> bool:
    """Return whether the stack creates the role of flow logs."""
    return isinstance(config.network, NewVpc) and config.network.flow_logs


def review_names(
    config: StackConfig,
    review: Review,
    *,
    derived: Iterable[DerivedName] = (),
    parts: Iterable[NamedPart] = (),
) -> None:
    """Refuse names of the stack and of its parts from which too long names are derived.

    Args:
        config: The stack.
        review: Collects the problems.
        derived: Names that are derived from the name of the stack alone, except the flow logs'.
        parts: The entries whose names are part of derived names.
    """
    stack, parts = config.name, list(parts)
    flow_logs = [_FLOW_LOGS_ROLE] if has_flow_logs(config) else []
    of_parts = [name for part in parts for name in part.derived]
    over, worst = _worst([*derived, *flow_logs, *of_parts], stack, _SHORTEST_PART)
    if over > 0:
        review.refuse(
            "name",
            f"is too long: it is part of the name of {worst}",
            found=stack,
            allowed=f"at most {len(stack) - over} characters",
            remedy=review.set_command("name", stack[: len(stack) - over].rstrip("-")),
            rules=("E17",),
        )
        return
    for part in parts:
        over, worst = _worst(part.derived, stack, part.name)
        if over > 0:
            review.refuse(
                f"architecture.{part.section}.{part.entry}",
                "has a name that is too long together with that of the stack: both are part of "
                f"the name of {worst}",
                found=part.name,
                allowed=f"at most {len(part.name) - over} characters",
                remedy=f"rename it to `{part.name[: len(part.name) - over].rstrip('-')}` or "
                f"another short name of the {part.noun}, or shorten `name`",
                rules=("E17",),
            )


def _worst(names: Iterable[DerivedName], stack: str, part: str) -> tuple[int, str]:
    """Return the largest excess, and the resource with its limit; 0 without names."""
    found = ((each.excess(stack, part), each) for each in names)
    over, name = max(found, key=lambda pair: pair[0], default=(0, None))
    return over, f"{name.resource}, which AWS limits to {name.limit} characters" if name else ""
