"""Rows for service-linked roles and placement groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from components.account.preflight_facts import PreflightFacts
from components.checks.row import Row, ok, refused, skipped
from components.config.problems import ROOT, Problem
from components.preflight.readings import (
    DESCRIBE_GROUPS,
    GET_ROLE,
    group_names,
)
from components.preflight.service_roles import service_roles

if TYPE_CHECKING:
    from components.config.stack_models import AnyStackConfig

ROLE = "the service-linked role exists or can be created"
GROUP = "the placement group exists"


def role_rows(config: AnyStackConfig, more: PreflightFacts) -> Iterator[Row]:
    """Yield rows on service-linked roles; AWS creates missing roles when they are needed."""
    for role in service_roles(config):
        reason = more.why_not(GET_ROLE)
        if reason is not None:
            yield skipped(role.key, ROLE, f"{role.name}: {reason}")
        elif role.name in more.role_names:
            yield ok(role.key, ROLE, role.name)
        else:
            yield ok(
                role.key,
                ROLE,
                (
                    f"{role.name}: does not exist; AWS creates it on first use if the caller has "
                    f"iam:CreateServiceLinkedRole for {role.service}"
                ),
            )


def group_rows(config: AnyStackConfig, more: PreflightFacts) -> Iterator[Row]:
    """Yield rows on whether the placement groups in the stack file are available."""
    for name, key in group_names(config).items():
        reason = more.why_not(DESCRIBE_GROUPS)
        state = more.placement_groups.get(name)
        if reason is not None:
            yield skipped(key, GROUP, reason)
        elif state == "available":
            yield ok(key, GROUP, name)
        else:
            yield refused(
                GROUP,
                Problem(
                    path=f"{ROOT}.{key}",
                    found=name if state is None else f"{name}, {state}",
                    problem=(
                        "EC2 launches no instance into this placement group: it is not available "
                        "in this account and region"
                    ),
                    allowed="an available placement group in this account and region",
                    remedy="copy a name from `aws ec2 describe-placement-groups`",
                ),
            )
