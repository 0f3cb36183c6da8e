"""Rows for service-linked roles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.components.account.preflight_facts import PreflightFacts
from trainyard.components.checks.row import Row, ok, skipped
from trainyard.components.preflight.readings import GET_ROLE
from trainyard.components.preflight.service_roles import service_roles

if TYPE_CHECKING:
    from trainyard.components.config.stack_models import AnyStackConfig

ROLE = "the service-linked role exists or can be created"


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
