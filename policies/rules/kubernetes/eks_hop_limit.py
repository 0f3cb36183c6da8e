"""Launch templates of EKS nodes have a metadata hop limit of at least 2.

Why:
    A pod that is not on the host network is one hop away from its node. With a hop limit of 1 it
    gets no answer from the instance metadata service, and device plugins, drivers and agents that
    read their region or instance type fail. Two hops are enough, with session tokens required. The
    EKS best practices recommend 1 to keep pods away from the node role, which is right only if no
    pod needs instance metadata. Without a limit in the launch template the image decides; the EKS
    images with Amazon Linux 2023 use 2.
Fix:
    Set `http_put_response_hop_limit` to 2 in the metadata options of the launch template. If you
    want 1, suppress the rule for that template.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-options.html
    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    https://docs.aws.amazon.com/eks/latest/best-practices/identity-and-access-management.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from policies.resources.kubernetes import of_kubernetes
from policies.resources.launches import templates_of
from policies.resources.props import UNKNOWN
from policies.resources.stack import Stack
from policies.resources.types import AUTO_SCALING_GROUP, EKS_NODE_GROUP
from policies.rule import Config, stack_rule

PODS_NEED = 2


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for group in stack.of_type(EKS_NODE_GROUP, AUTO_SCALING_GROUP):
        if not of_kubernetes(stack, group):
            continue
        for template in templates_of(stack, group):
            path = ("metadataOptions", "httpPutResponseHopLimit")
            limit = stack.facts_of(template.urn).number(*path)
            # The provider reports a missing limit as 0; EC2 accepts 1 to 64.
            if limit not in (None, UNKNOWN, 0) and limit < PODS_NEED and template.urn not in seen:
                seen.add(template.urn)
                yield (
                    template.urn,
                    (
                        f"its hop limit is {limit:g}, so pods on the nodes of {group.name} get no "
                        f"answer from instance metadata; set http_put_response_hop_limit to "
                        f"{PODS_NEED}"
                    ),
                )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["security", "baseline", "E15", "H3"],
    check=_check,
)
