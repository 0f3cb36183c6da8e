"""The permissions of the nodes of an eksctl `ClusterConfig`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainyard.importing.draft import Draft
from trainyard.importing.reader import Reader

_ADDON_POLICIES: Mapping[str, str] = {
    "autoScaler": "autoscaler",
    "cloudWatch": "cloudwatch",
    "ebs": "ebs",
    "fsx": "fsx",
}
_REQUIRED = (
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEC2ContainerRegistryReadOnly",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonSSMManagedInstanceCore",
)
"""Policies that every node role of a stack has, or a narrower one."""
_AWS_POLICY = re.compile(r"arn:aws[\w-]*:iam::aws:policy/(?P<name>.+)")


def read_permissions(source: Reader, nodes: Draft) -> None:
    """Read `iam` of a node group."""
    policies = source.at("withAddonPolicies")
    named: list[str] = []
    for key, value in policies.entries():
        if value.flag is False:
            value.implied("nodes do not have the permission")
        elif key in _ADDON_POLICIES:
            named.append(_ADDON_POLICIES[key])
            value.claim("taken over", ours=(*nodes.at, "addon_policies", len(named) - 1))
        else:
            value.unsupported(
                "give the permission to the pods that need it, with an IAM role for pods, or name "
                "a policy in `iam_policies`"
            )
    if named or policies.exists:
        nodes.put("addon_policies", named)
    for arn in source.at("attachPolicyARNs").items():
        match = _AWS_POLICY.fullmatch(str(arn.value))
        name = match["name"] if match else str(arn.value)
        if name in _REQUIRED:
            arn.implied("every node role has the policy, or a narrower one")
        else:
            listed = nodes.values.setdefault("iam_policies", [])
            listed.append(name)
            arn.claim("taken over", ours=(*nodes.at, "iam_policies", len(listed) - 1))
