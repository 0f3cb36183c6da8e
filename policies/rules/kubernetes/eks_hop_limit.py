"""Launch templates of EKS nodes have a metadata hop limit of 1, or of 2 if pods need metadata.

Why:
    A pod that is not on the host network is one hop away from its node. With a hop limit of 2 or
    more, every pod gets the credentials of the node role from the instance metadata service, and so
    the permissions that are meant for a driver or an agent. With 1, no such pod gets an answer, and
    the agent of the CloudWatch Observability add-on, which needs its instance id, sends no metrics.
    Without a limit in the launch template the image decides, and the rule finds nothing; the EKS
    images with Amazon Linux 2023 use 2. Nor does it find anything for a role that another program
    creates, or that has policies of no add-on, which pods may need.
Fix:
    Set `http_put_response_hop_limit` to 1 in the metadata options of the launch template, and give
    the pods of add-ons roles of their own with EKS Pod Identity. If other pods need instance
    metadata, set it to 2 and suppress the rule for that template.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-options.html
    https://docs.aws.amazon.com/eks/latest/best-practices/identity-and-access-management.html
    https://docs.aws.amazon.com/eks/latest/userguide/pod-identities.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity

from trainyard.components.catalog.eks_node_policies import (
    ADDON_ACTIONS,
    ADDON_POLICIES,
    METADATA_READERS,
    NODE_POLICIES,
)
from trainyard.policies.resources.iam import permissions
from trainyard.policies.resources.kubernetes import of_kubernetes
from trainyard.policies.resources.launches import templates_of
from trainyard.policies.resources.props import UNKNOWN
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import (
    AUTO_SCALING_GROUP,
    EKS_ADDON,
    EKS_CLUSTER,
    EKS_NODE_GROUP,
    IAM_ROLE,
    IAM_ROLE_POLICY,
    IAM_ROLE_POLICY_ATTACHMENT,
    INSTANCE_PROFILE,
)
from trainyard.policies.rule import Config, stack_rule

TO_POD = 2


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for group in stack.of_type(EKS_NODE_GROUP, AUTO_SCALING_GROUP):
        if not of_kubernetes(stack, group):
            continue
        for template in templates_of(stack, group):
            path = ("metadataOptions", "httpPutResponseHopLimit")
            limit = stack.facts_of(template.urn).number(*path)
            # The provider reports a missing limit as 0; EC2 accepts 1 to 64.
            if limit in (None, UNKNOWN, 0) or template.urn in seen:
                continue
            seen.add(template.urn)
            problem = _problem(stack, group, template, int(limit))
            if problem:
                yield template.urn, problem


def _problem(
    stack: Stack, group: PolicyResource, template: PolicyResource, limit: int
) -> str | None:
    readers = _metadata_readers(stack)
    if limit < TO_POD:
        # A cluster of the stack without the add-on may be that of the group.
        if not readers or len(list(stack.of_type(EKS_CLUSTER))) > 1:
            return None
        return (
            f"its hop limit is {limit}, so the pods of {', '.join(readers)} on the nodes of "
            f"{group.name} get no answer from instance metadata; set http_put_response_hop_limit "
            f"to {TO_POD}"
        )
    reached = f"its hop limit is {limit}, so every pod on the nodes of {group.name}"
    of_addons, others = _policies(stack, group, template)
    if of_addons:
        return (
            f"{reached} can use what the node role allows for "
            f"{', '.join(sorted(set(of_addons.values())))} ({', '.join(sorted(of_addons))}); give "
            "the permission to a role of the add-on's pods, with EKS Pod Identity"
            + ("" if readers else ", and set http_put_response_hop_limit to 1")
        )
    if limit > TO_POD:
        return f"{reached}, and containers inside pods, can use the node role; pods need at most 2"
    if readers or others:
        return None
    return (
        f"{reached} can use the node role, and nothing in the stack needs that; set "
        "http_put_response_hop_limit to 1"
    )


def _metadata_readers(stack: Stack) -> list[str]:
    named = (stack.facts_of(each.urn).get("addonName") for each in stack.of_type(EKS_ADDON))
    return sorted({name for name in named if isinstance(name, str) and name in METADATA_READERS})


def _policies(
    stack: Stack, group: PolicyResource, template: PolicyResource
) -> tuple[dict[str, str], bool]:
    """Return the add-ons whose policies the node role has, by policy, and whether it has others.

    A role that is not in the stack may have any policy.
    """
    roles = _roles(stack, group, template)
    if len(roles) != 1:
        return {}, True
    (role,) = roles
    of_addons: dict[str, str] = {}
    others = False
    for name in _attached(stack, role):
        if name in ADDON_POLICIES:
            of_addons[name] = ADDON_POLICIES[name]
        elif name not in NODE_POLICIES:
            others = True
    for holder in (role, *_of_role(stack, IAM_ROLE_POLICY, role)):
        facts = stack.facts_of(holder.urn)
        others = others or facts.get("policy") is UNKNOWN
        for permission in permissions(facts):
            addons = {a: ADDON_ACTIONS[a] for a in permission.actions if a in ADDON_ACTIONS}
            of_addons |= addons
            others = others or not addons
    return of_addons, others


def _roles(
    stack: Stack, group: PolicyResource, template: PolicyResource
) -> tuple[PolicyResource, ...]:
    if group.resource_type == EKS_NODE_GROUP:
        found = stack.refers(group, "nodeRoleArn", to=IAM_ROLE)
        return found.resources if found else ()
    for key in ("arn", "name"):
        profile = stack.refers(template, "iamInstanceProfile", key, to=INSTANCE_PROFILE)
        if profile is not None and len(profile.resources) == 1:
            found = stack.refers(profile.resources[0], "role", to=IAM_ROLE)
            return found.resources if found else ()
    return ()


def _attached(stack: Stack, role: PolicyResource) -> Iterator[str]:
    """Yield the names of the managed policies of a role, without their paths."""
    facts = stack.facts_of(role.urn)
    arns = [facts.get("managedPolicyArns", i) for i in range(facts.count("managedPolicyArns"))]
    attachments = _of_role(stack, IAM_ROLE_POLICY_ATTACHMENT, role)
    arns.extend(stack.facts_of(each.urn).get("policyArn") for each in attachments)
    for arn in arns:
        yield str(arn).rpartition("/")[2]


def _of_role(stack: Stack, type_: str, role: PolicyResource) -> Iterator[PolicyResource]:
    for each in stack.of_type(type_):
        found = stack.refers(each, "role", to=IAM_ROLE)
        if found is not None and role in found.resources:
            yield each


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["security", "baseline", "E15", "H3"],
    check=_check,
)
