"""Rows for service-linked roles, Kubernetes versions, placement groups and provider functions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING

from components.catalog.versions import SUPPORT_NOTICE
from components.config.problems import ROOT, Problem
from components.config.stack_models import is_eks
from components.preflight.facts import PreflightFacts, VersionFacts
from components.preflight.readings import (
    DESCRIBE_GROUPS,
    DESCRIBE_VERSIONS,
    GET_FUNCTION,
    GET_ROLE,
    group_names,
    provider_function,
)
from components.preflight.row import Row, ok, refused, skipped, warning
from components.preflight.service_roles import service_roles

if TYPE_CHECKING:
    from components.config.stack_models import AnyStackConfig

ROLE = "the service-linked role exists or is made"
VERSION = "EKS supports the version"
GROUP = "the placement group exists"
PROVIDER = "the provider of ParallelCluster exists"
_NONE = "UNSUPPORTED"


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
                f"{role.name}: not yet; AWS makes it on first use, for a caller who may "
                f"iam:CreateServiceLinkedRole for {role.service}",
            )


def version_rows(config: AnyStackConfig, more: PreflightFacts, today: date) -> Iterator[Row]:
    """Yield rows on whether EKS supports the Kubernetes version."""
    if not is_eks(config):
        return
    version, key = config.architecture.kubernetes_version, "architecture.kubernetes_version"
    reason = more.why_not(DESCRIBE_VERSIONS)
    if reason is not None:
        yield skipped(key, VERSION, reason)
        return
    found = more.kubernetes_versions.get(version)
    if found is None or found.status == _NONE:
        yield refused(
            VERSION,
            Problem(
                path=f"{ROOT}.{key}",
                found=version,
                problem="EKS makes no cluster of this version in this region",
                allowed=", ".join(
                    name for name, each in more.kubernetes_versions.items() if each.status != _NONE
                ),
                remedy="give a version that `aws eks describe-cluster-versions` lists",
            ),
        )
    else:
        yield _support(key, version, found, today)


def _support(key: str, version: str, found: VersionFacts, today: date) -> Row:
    ends = found.standard_support_ends
    if found.status == "EXTENDED_SUPPORT":
        return warning(key, VERSION, f"{version} is in extended support, which costs extra")
    if ends is not None and ends - today <= SUPPORT_NOTICE:
        return warning(key, VERSION, f"{version}: standard support ends on {ends}")
    return ok(key, VERSION, f"{version}" + (f", standard support until {ends}" if ends else ""))


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
                    problem="nothing launches into this placement group: it is not available here",
                    allowed="a placement group of this account and region that is available",
                    remedy="copy a name from `aws ec2 describe-placement-groups`",
                ),
            )


def provider_rows(config: AnyStackConfig, more: PreflightFacts) -> Iterator[Row]:
    """Yield rows on whether the provider stack in the stack file can create a cluster."""
    arn, key = provider_function(config), "architecture.deployment.provider_service_token"
    if arn is None:
        return
    reason = more.why_not(GET_FUNCTION)
    found = more.provider_functions.get(arn)
    if reason is not None:
        yield skipped(key, PROVIDER, reason)
    elif found is not None and found.state != "Failed":
        yield ok(key, PROVIDER, f"{arn}, {found.state}")
    else:
        yield refused(
            PROVIDER,
            Problem(
                path=f"{ROOT}.{key}",
                found=arn if found is None else f"{arn}, {found.state}",
                problem="no function answers for this provider, so the cluster is never made",
                remedy="copy the output ServiceToken of the provider stack, or remove the key",
            ),
        )
