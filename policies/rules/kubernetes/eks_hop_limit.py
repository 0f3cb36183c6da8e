"""Nodes of EKS answer pods that ask for instance metadata.

Why:
    A pod that is not on the host network is one hop away from its node, so with a hop limit of 1
    it never has an answer: device plugins, drivers and agents that ask for their region or
    instance type fail. Two hops suffice, with session tokens required. The practices of EKS advise
    1 to keep pods away from the node's role, which is right where none of its pods asks. A limit
    that is left out is the image's, which is 2 for those of EKS with Amazon Linux 2023.
Fix:
    Set `http_put_response_hop_limit` to 2 in the metadata options of the launch template. Where 1
    is meant, suppress the rule for that template.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-options.html
    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    https://docs.aws.amazon.com/eks/latest/best-practices/identity-and-access-management.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.kubernetes import of_kubernetes
from policies.resources.launches import templates_of
from policies.resources.props import UNKNOWN
from policies.resources.stack import Stack
from policies.resources.types import AUTO_SCALING_GROUP, EKS_NODE_GROUP
from policies.rule import Config, on_stack

PODS_NEED = 2


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for group in stack.of_type(EKS_NODE_GROUP, AUTO_SCALING_GROUP):
        if not of_kubernetes(stack, group):
            continue
        for template in templates_of(stack, group):
            path = ("metadataOptions", "httpPutResponseHopLimit")
            limit = stack.facts_of(template.urn).number(*path)
            # The provider reads a limit that was left out back as 0; EC2 takes 1 to 64.
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


POLICY = StackValidationPolicy(
    name="eks-hop-limit",
    display_name="Pods of EKS reach instance metadata",
    description="Launch templates of EKS nodes have no hop limit below 2.",
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["kubernetes", "security", "baseline", "E15", "H3"],
    remediation_steps="Set http_put_response_hop_limit to 2.",
    url=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/"
        "configuring-instance-metadata-options.html"
    ),
    validate=on_stack(_check),
)
