"""Nothing overwrites the `aws-auth` ConfigMap of a cluster that others write to as well.

Why:
    `mapRoles` is one string. A ConfigMap resource, and a patch of it that is forced, replace that
    string as a whole: the roles of managed node groups and Fargate profiles, which EKS added, and
    those of colleagues are gone, running nodes turn NotReady and people are locked out. When the
    patch is destroyed, so is the whole key.
Fix:
    Use access entries (`aws.eks.AccessEntry`), or read the map, add one entry and write it back;
    in a stack file of ours `node_authorization` does either. A program that makes the cluster
    passes where the map names the roles of all its node groups, or where EKS lets them in by
    access entries (authentication mode `API` or `API_AND_CONFIG_MAP`).
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html
    https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity, StackValidationPolicy

from policies.resources.props import UNKNOWN, Facts, is_set, is_true
from policies.resources.stack import Stack
from policies.resources.types import (
    CONFIG_MAP,
    CONFIG_MAP_PATCH,
    EKS_CLUSTER,
    EKS_NODE_GROUP,
    FARGATE_PROFILE,
    IAM_ROLE,
)
from policies.rule import Config, on_stack

_ROLES = {EKS_NODE_GROUP: "nodeRoleArn", FARGATE_PROFILE: "podExecutionRoleArn"}
_FORCE = "pulumi.com/patchForce"
_OF_PULUMI_EKS = "eks:index:Cluster$"
"""Part of the URN of what the package pulumi-eks makes for a cluster of its own."""
_WITH_ACCESS_ENTRIES = ("API", "API_AND_CONFIG_MAP", UNKNOWN)
_FIX = "use an aws.eks.AccessEntry, or merge one entry into the map that is there"


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for written in stack.of_type(CONFIG_MAP, CONFIG_MAP_PATCH):
        facts = stack.facts_of(written.urn)
        if not _is_aws_auth(facts) or not _writes_roles(facts):
            continue
        if written.resource_type == CONFIG_MAP_PATCH:
            # Without force the API server refuses to take the string from its owner.
            if is_true(facts.get("metadata", "annotations", _FORCE)):
                yield (
                    written.urn,
                    (
                        "it forces a patch of mapRoles in aws-auth, and that is one string: the "
                        f"entries of others are lost, and nodes with them; {_FIX}"
                    ),
                )
        elif next(stack.of_type(EKS_CLUSTER), None) is None and _OF_PULUMI_EKS not in written.urn:
            yield (
                written.urn,
                (
                    "it overwrites aws-auth of a cluster that this program does not make, and "
                    f"with it the entries of others; {_FIX}"
                ),
            )
        elif not _let_in_by_access_entries(stack):
            yield from _left_out(stack, written)


def _is_aws_auth(facts: Facts) -> bool:
    named = facts.get("metadata", "name"), facts.get("metadata", "namespace")
    return named == ("aws-auth", "kube-system")


def _writes_roles(facts: Facts) -> bool:
    return facts.get("data") is UNKNOWN or is_set(facts.get("data", "mapRoles"))


def _let_in_by_access_entries(stack: Stack) -> bool:
    """Whether EKS lets the nodes of every cluster in by access entries, whatever the map says."""
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
                    f"entry EKS added: its nodes lose the cluster; name that role too, or {_FIX}"
                ),
            )


def _names_role_of(stack: Stack, written: PolicyResource, nodes: PolicyResource) -> bool:
    """Whether a map names the role of a group of nodes; yes where that cannot be told."""
    name = _ROLES[nodes.resource_type]
    arn = stack.facts_of(nodes.urn).get(name)
    text = stack.facts_of(written.urn).get("data", "mapRoles")
    made = stack.dependencies(nodes, name, IAM_ROLE)
    if isinstance(text, str):
        if isinstance(arn, str):
            return arn in text or _without_path(arn) in text
        # A role that is new stands in a known text only by a name that the program gave it.
        names = [stack.facts_of(role.urn).get("name") for role in made]
        named = any(isinstance(each, str) and f":role/{each}" in text for each in names)
        return named or not made
    roles = {role.urn for role in made}
    inside = {role.urn for role in stack.dependencies(written, "data", IAM_ROLE)}
    return not roles or not inside or roles <= inside


def _without_path(arn: str) -> str:
    """Return the ARN of a role as aws-auth must have it: the map takes none with a path."""
    account, slash, name = arn.partition(":role/")
    return account + slash + name.rpartition("/")[2]


POLICY = StackValidationPolicy(
    name="aws-auth-whole-map",
    display_name="The aws-auth ConfigMap is not overwritten",
    description="No ConfigMap or forced patch replaces a role map that others write to as well.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["kubernetes", "G10"],
    remediation_steps="Use access entries, or merge one entry into the map.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html",
    validate=on_stack(_check),
)
