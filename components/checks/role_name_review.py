"""Checks that derived names fit into the limits of AWS.

Role names have the lowest limit, 64 characters; Batch resources allow 128.
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
"""

from __future__ import annotations

from collections.abc import Iterable

from components.config.network import NewVpc
from components.config.review import Review
from components.config.stack import StackConfig
from components.naming import IAM_ROLE_NAME_LIMIT, excess_length

Parts = tuple[str, str, Iterable[str]]
"""Section of the architecture, term for its entries, and their names."""

# Logical names of the roles of nodes, jobs and flow logs in the components.
_ROLE = "{stack}-{part}-role"
_FLOW_LOGS_ROLE = "{stack}-network-flow-logs-role"


def review_names(config: StackConfig, review: Review, *, parts: tuple[Parts, ...] = ()) -> None:
    """Refuse names of the stack and of parts with a role whose role names are too long."""
    flow_logs = isinstance(config.network, NewVpc) and config.network.flow_logs
    over = max(
        _excess(_FLOW_LOGS_ROLE, config.name) if flow_logs else 0,
        _excess(_ROLE, config.name, "x") if parts else 0,
    )
    if over > 0:
        review.refuse(
            "name",
            "is too long: it is part of role names, which AWS limits",
            found=config.name,
            allowed=f"at most {len(config.name) - over} characters",
            remedy=review.set_command("name", "SHORTER"),
        )
        return
    for key, noun, names in parts:
        for name in names:
            over = _excess(_ROLE, config.name, name)
            if over > 0:
                review.refuse(
                    f"architecture.{key}.{name}",
                    (
                        "has a name that is too long together with that of the stack: both are "
                        "part of the name of its role, which AWS limits"
                    ),
                    found=name,
                    allowed=f"at most {len(name) - over} characters",
                    remedy=f"rename the {noun}, or shorten `name`",
                )


def _excess(pattern: str, stack: str, part: str = "") -> int:
    return excess_length(pattern.format(stack=stack, part=part), IAM_ROLE_NAME_LIMIT)
