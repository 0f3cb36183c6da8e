"""Checks of changes to the authentication mode of a cluster.

EKS changes the mode in one direction and one step at a time, without a way back. Changes that would
lock nodes out are refused before any resource is registered.

Source: https://docs.aws.amazon.com/eks/latest/userguide/setting-up-access-entries.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.components.account.facts import AccountFacts, ClusterFacts
from trainyard.components.checks.check import Subject
from trainyard.components.config.eks_stack import EksStackConfig
from trainyard.components.config.problems import ROOT, Problem, set_command
from trainyard.components.eks.node_access_entry_plan import EC2_LINUX, is_node_role_of
from trainyard.components.runtime.aws_auth_listing import review_map_roles, without_access_entry
from trainyard.components.runtime.aws_auth_plan import MapRolesError

AUTHORIZATION = Subject(
    "architecture.authentication_mode",
    "nodes and people keep their way in",
    calls=("eks:DescribeCluster",),
)
"""What `authorization_problems` checks."""

MODES = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")
"""In the order of the allowed changes."""

_MODE = f"{ROOT}.architecture.authentication_mode"
_HOW = f"{ROOT}.architecture.node_authorization"
_ENTRY_CALLS = ("eks:ListAccessEntries", "eks:DescribeAccessEntry")


def authorization_problems(
    config: EksStackConfig, facts: AccountFacts, *, stack_file: str
) -> Iterator[Problem]:
    """Yield why the existing cluster cannot change to the mode in the stack file."""
    cluster, wanted = facts.cluster, config.architecture.authentication_mode
    if cluster is None:
        return
    steps = MODES.index(wanted) - MODES.index(cluster.authentication_mode)
    if steps < 0:
        yield _way_back(cluster, wanted, stack_file)
    elif steps > 1:
        yield _two_steps(cluster, wanted, stack_file)
    elif steps == 1 and wanted == "API":
        yield from _last_step(config, cluster, facts, stack_file)
    if cluster.aws_auth is not None and wanted != "API" and _self_managed(config):
        yield from _broken_map(cluster.aws_auth)


def authorization_warnings(config: EksStackConfig, facts: AccountFacts) -> Iterator[str]:
    """Yield who loses access in the mode `API`: entries of `aws-auth` without an access entry."""
    cluster = facts.cluster
    if cluster is None or config.architecture.authentication_mode != "API":
        return
    lost = _lost(cluster)
    if lost:
        yield (
            f"authentication_mode: API ends the access of {len(lost)} that stand in aws-auth and "
            f"have no access entry: {'; '.join(lost)}. Make an entry for each that shall stay "
            f"(`aws eks create-access-entry --cluster-name {cluster.name} --principal-arn …`)"
        )


def needs_aws_auth(config: EksStackConfig) -> bool:
    """Return whether these checks need the `aws-auth` of the cluster."""
    return bool(_self_managed(config)) or config.architecture.authentication_mode == "API"


def _way_back(cluster: ClusterFacts, wanted: str, stack_file: str) -> Problem:
    mode = cluster.authentication_mode
    return Problem(
        path=_MODE,
        found=wanted,
        problem=(
            f"the cluster {cluster.name} is in the mode {mode}; EKS never takes access entries "
            "away from a cluster again, nor gives aws-auth back to one that left it"
        ),
        allowed=" or ".join(MODES[MODES.index(mode) :][:2]),
        remedy=set_command(_MODE, mode, stack_file=stack_file),
    )


def _two_steps(cluster: ClusterFacts, wanted: str, stack_file: str) -> Problem:
    between = MODES[1]
    return Problem(
        path=_MODE,
        found=wanted,
        problem=(
            f"the cluster {cluster.name} is in the mode {cluster.authentication_mode}, two steps "
            "away; EKS takes one at a time, and nodes would be locked out between them"
        ),
        allowed=f"{between} now, {wanted} with a later `up`",
        remedy=(
            f"{set_command(_MODE, between, stack_file=stack_file)}, run `up`, and then follow "
            "docs/authorization.md to the next step"
        ),
    )


def _last_step(
    config: EksStackConfig, cluster: ClusterFacts, facts: AccountFacts, stack_file: str
) -> Iterator[Problem]:
    if not all(facts.could_read(call) for call in _ENTRY_CALLS):
        yield Problem(
            path=_MODE,
            found="API",
            problem=(
                "the access entries of the cluster cannot be read, so it is unknown whether "
                "the nodes would lose access; this step cannot be undone"
            ),
            allowed=cluster.authentication_mode,
            remedy=f"let the caller use {' and '.join(_ENTRY_CALLS)}, and run again",
        )
        return
    for name in _self_managed(config):
        roles = [arn for arn in cluster.access_entries if is_node_role_of(arn, config.name, name)]
        if not any(cluster.access_entries[arn] == EC2_LINUX for arn in roles):
            yield _without_entry(name, cluster, stack_file)
    for role in sorted(cluster.node_role_arns):
        if cluster.access_entries.get(role) != EC2_LINUX:
            yield _managed_without_entry(role, cluster)


def _without_entry(group: str, cluster: ClusterFacts, stack_file: str) -> Problem:
    lost = _lost(cluster)
    also = f" Without an access entry are also: {'; '.join(lost)}." if lost else ""
    first = set_command(_MODE, cluster.authentication_mode, stack_file=stack_file)
    second = set_command(_HOW, "access-entry", stack_file=stack_file)
    return Problem(
        path=_MODE,
        found="API",
        problem=(
            f"the role of the node group {group} has no access entry of type {EC2_LINUX} yet; its "
            f"nodes would be locked out, and this step cannot be undone.{also}"
        ),
        allowed=f"{cluster.authentication_mode} until an earlier `up` has made the entry",
        remedy=f"{first}, {second}, run `up`, and only then set API",
    )


def _managed_without_entry(role: str, cluster: ClusterFacts) -> Problem:
    return Problem(
        path=_MODE,
        found="API",
        problem=(
            f"EKS has no access entry for {role}, the role of a managed node group; its nodes "
            "would be locked out, and this step cannot be undone"
        ),
        remedy=(
            f"aws eks create-access-entry --cluster-name {cluster.name} --principal-arn {role} "
            f"--type {EC2_LINUX}"
        ),
    )


def _broken_map(aws_auth: Mapping[str, str]) -> Iterator[Problem]:
    try:
        review_map_roles(aws_auth)
    except MapRolesError as error:
        yield Problem(
            path=_HOW,
            problem=str(error),
            remedy="kubectl -n kube-system edit configmap aws-auth",
        )


def _lost(cluster: ClusterFacts) -> list[str]:
    return without_access_entry(cluster.aws_auth or {}, cluster.access_entry_arns)


def _self_managed(config: EksStackConfig) -> list[str]:
    groups = config.architecture.node_groups.items()
    return [name for name, group in groups if group.management == "self-managed"]
