"""An EKS cluster with a public endpoint restricts the networks that can reach it.

Why:
    By default the Kubernetes API endpoint accepts connections from the whole internet, and only the
    credentials of each user protect it. Nodes do not need the public endpoint if the private
    endpoint is enabled.
Fix:
    Set `public_access_cidrs` to the networks of your users and pipelines, or disable the public
    endpoint (in a stack file: `endpoint` of the architecture).
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html
    https://docs.aws.amazon.com/eks/latest/APIReference/API_VpcConfigRequest.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.props import UNKNOWN, Facts, is_true
from trainyard.policies.resources.types import EKS_CLUSTER
from trainyard.policies.rule import Config, resource_rule

_WORLD = ("0.0.0.0/0", "::/0")


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    # The endpoint is public by default.
    public = facts.needed("vpcConfig", "endpointPublicAccess")
    if public is not None and not is_true(public):
        return
    given = facts.get("vpcConfig", "publicAccessCidrs")
    networks = facts.values("vpcConfig", "publicAccessCidrs")
    if (given is not UNKNOWN and not networks) or any(each in _WORLD for each in networks):
        yield (
            "its public endpoint is open to the whole internet; set public_access_cidrs of its VPC "
            "configuration to your networks (in a stack file: endpoint.public_access_cidrs), or "
            "disable the public endpoint"
        )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["kubernetes", "baseline", "H5"],
    types=(EKS_CLUSTER,),
    check=_check,
)
