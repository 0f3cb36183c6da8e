"""Checks that derived names fit into the limits of AWS.

Role names have the lowest limit, 64 characters; Batch resources allow 128.
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.config.network import NewVpc
from components.config.review import Review
from components.config.stack_models import is_batch
from components.naming import IAM_ROLE_NAME_LIMIT, excess_length

if TYPE_CHECKING:
    from components.config.batch_stack import BatchStackConfig
    from components.config.network_stack import NetworkStackConfig

# Logical names of the roles of nodes, jobs and flow logs in the components.
_ROLE = "{stack}-{part}-role"
_FLOW_LOGS_ROLE = "{stack}-network-flow-logs-role"


def review_names(config: BatchStackConfig | NetworkStackConfig, review: Review) -> None:
    """Refuse stack, compute environment and job definition names whose role names are too long."""
    over = _stack_excess(config)
    if over > 0:
        review.refuse(
            "name",
            "is too long: the names of roles follow from it, and AWS limits those",
            found=config.name,
            allowed=f"at most {len(config.name) - over} characters",
            remedy=review.set_command("name", "SHORTER"),
        )
    elif is_batch(config):
        _review_parts(config, review)


def _stack_excess(config: BatchStackConfig | NetworkStackConfig) -> int:
    flow_logs = isinstance(config.network, NewVpc) and config.network.flow_logs
    own = _excess(_FLOW_LOGS_ROLE, config.name) if flow_logs else 0
    parts = is_batch(config)
    return max(own, _excess(_ROLE, config.name, "x") if parts else 0)


def _review_parts(config: BatchStackConfig, review: Review) -> None:
    architecture = config.architecture
    for key, noun, names in (
        ("compute_environments", "compute environment", architecture.compute_environments),
        ("job_definitions", "job definition", architecture.job_definitions),
    ):
        for name in names:
            over = _excess(_ROLE, config.name, name)
            if over > 0:
                review.refuse(
                    f"architecture.{key}.{name}",
                    "has a name that is too long beside that of the stack: the name of its role "
                    "follows from both, and AWS limits that",
                    found=name,
                    allowed=f"at most {len(name) - over} characters",
                    remedy=f"rename the {noun}, or shorten `name`",
                )


def _excess(pattern: str, stack: str, part: str = "") -> int:
    return excess_length(pattern.format(stack=stack, part=part), IAM_ROLE_NAME_LIMIT)
