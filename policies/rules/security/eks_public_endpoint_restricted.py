"""The public endpoint of an EKS cluster is open to named networks only.

Why:
    Left alone, the Kubernetes API answers the whole internet, and what guards it is the
    credentials of each of its users. Nodes do not need it where the private endpoint is on.
Fix:
    Set `public_access_cidrs` to the networks of your people and pipelines, or turn the public
    endpoint off (in a stack file: `endpoint` of the architecture).
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html
    https://docs.aws.amazon.com/eks/latest/APIReference/API_VpcConfigRequest.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.props import UNKNOWN, Facts, is_true
from policies.resources.types import EKS_CLUSTER
from policies.rule import Config, on_types

_WORLD = ("0.0.0.0/0", "::/0")


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    # Left out, the endpoint is public.
    public = facts.needed("vpcConfig", "endpointPublicAccess")
    if public is not None and not is_true(public):
        return
    given = facts.get("vpcConfig", "publicAccessCidrs")
    networks = facts.values("vpcConfig", "publicAccessCidrs")
    if (given is not UNKNOWN and not networks) or any(each in _WORLD for each in networks):
        yield (
            "its public endpoint answers the whole internet; set public_access_cidrs of its VPC "
            "configuration to your networks (in a stack file: endpoint.public_access_cidrs), or "
            "turn the public endpoint off"
        )


POLICY = ResourceValidationPolicy(
    name="eks-public-endpoint-restricted",
    display_name="The public endpoint of EKS is open to named networks",
    description="An EKS cluster with a public endpoint names the networks that may use it.",
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["security", "kubernetes", "baseline", "H5"],
    remediation_steps="Set public_access_cidrs, or turn the public endpoint off.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
    validate=on_types(EKS_CLUSTER, check=_check),
)
