"""No ConfigMap or forced patch replaces the role map in aws-auth that others also write.

Why:
    `mapRoles` is one string. A ConfigMap resource, or a forced patch, replaces the whole string.
    The roles of managed node groups and Fargate profiles, which EKS added, and entries that other
    people added are lost: nodes become NotReady, and people lose access. Destroying the patch
    removes the whole key.
Fix:
    Use access entries (`aws.eks.AccessEntry`), or read the map, add one entry and write it back;
    `node_authorization` in a stack file does either. A program that creates the cluster passes if
    the map names the roles of all its node groups, or if EKS admits them by access entries
    (authentication mode `API` or `API_AND_CONFIG_MAP`).
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html
    https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity

from trainyard.policies.resources.props import UNKNOWN, Facts, is_set, is_true
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import (
    CONFIG_MAP,
    CONFIG_MAP_PATCH,
    EKS_CLUSTER,
    EKS_NODE_GROUP,
    FARGATE_PROFILE,
    IAM_ROLE,
)
from trainyard.policies.rule import Config, stack_rule

_ROLES = {EKS_NODE_GROUP: "nodeRoleArn", FARGATE_PROFILE: "podExecutionRoleArn"}
_FORCE = "pulumi.com/patchForce"
_OF_PULUMI_EKS = "eks:index:Cluster$"
"""Part of the URNs of resources that pulumi-eks creates for a cluster."""
_WITH_ACCESS_ENTRIES = ("API", "API_AND_CONFIG_MAP", UNKNOWN)
_FIX = "use an aws.eks.AccessEntry, or merge one entry into the existing map"


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for written in stack.of_type(CONFIG_MAP, CONFIG_MAP_PATCH):
        facts = stack.facts_of(written.urn)
        if not _is_aws_auth(facts) or not _writes_roles(facts):
            continue
        if written.resource_type == CONFIG_MAP_PATCH:
            # Without force the API server rejects a change of a field with another owner.
            if is_true(facts.get("metadata", "annotations", _FORCE)):
                yield (
                    written.urn,
                    (
                        "it forces a patch of mapRoles in aws-auth, which is one string, so other "
                        f"entries are lost and their nodes lose access; {_FIX}"
                    ),
                )
        elif next(stack.of_type(EKS_CLUSTER), None) is None and _OF_PULUMI_EKS not in written.urn:
            yield (
                written.urn,
                (
                    "it overwrites aws-auth of a cluster that this program does not create, so "
                    f"other entries are lost; {_FIX}"
                ),
            )
        elif not _has_access_entries(stack):
            yield from _left_out(stack, written)


def _is_aws_auth(facts: Facts) -> bool:
    named = facts.get("metadata", "name"), facts.get("metadata", "namespace")
    return named == ("aws-auth", "kube-system")


def _writes_roles(facts: Facts) -> bool:
    return facts.get("data") is UNKNOWN or is_set(facts.get("data", "mapRoles"))


def _has_access_entries(stack: Stack) -> bool:
    """Whether EKS admits the nodes of every cluster by access entries, regardless of the map."""
    modes = [
        stack.facts_of(cluster.urn).get("accessConfig", "authenticationMode")
        for cluster in stack.of_type(EKS_CLUSTER)
    ]
    return bool(modes) and all(mode in _WITH_ACCESS_ENTRIES for mode in modes)


def _left_out(stack: Stack, written: PolicyResource) -> Iterator[tuple[str, str]]:
    for nodes in stack.of_type(*_ROLES):
        if not _names_role_of(stack, written, nodes):
            yield (
                written.urn,
                (
                    f"it overwrites aws-auth and does not name the role of {nodes.name}, whose "
                    f"entry EKS added, so its nodes lose access; name that role too, or {_FIX}"
                ),
            )


def _names_role_of(stack: Stack, written: PolicyResource, nodes: PolicyResource) -> bool:
    """Whether a map names the role of a group of nodes; True if that is unknown."""
    name = _ROLES[nodes.resource_type]
    arn = stack.facts_of(nodes.urn).get(name)
    text = stack.facts_of(written.urn).get("data", "mapRoles")
    made = stack.dependencies(nodes, name, IAM_ROLE)
    if isinstance(text, str):
        if isinstance(arn, str):
            return arn in text or _without_path(arn) in text
        # A known map can name a new role only if the program sets the name of the role.
        names = [stack.facts_of(role.urn).get("name") for role in made]
        named = any(isinstance(each, str) and f":role/{each}" in text for each in names)
        return named or not made
    roles = {role.urn for role in made}
    inside = {role.urn for role in stack.dependencies(written, "data", IAM_ROLE)}
    return not roles or not inside or roles <= inside


def _without_path(arn: str) -> str:
    """Return the ARN of a role without its path, as aws-auth requires."""
    account, slash, name = arn.partition(":role/")
    return account + slash + name.rpartition("/")[2]


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["G10"],
    check=_check,
)
