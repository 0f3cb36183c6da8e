"""A ParallelCluster head node restricts the networks that can open SSH connections.

Why:
    ParallelCluster opens port 22 of the head node to every address unless `AllowedIps` names a
    network, even for a cluster without a key pair. Scanners find an open port 22 within minutes.
Fix:
    Set `AllowedIps` to your network (in a stack file: `ssh.allowed_cidr`), or close the port and
    use Session Manager. A change of `AllowedIps` is an update of the existing cluster.
Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/HeadNode-v3.html
    https://github.com/aws/aws-parallelcluster/issues/6708
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.parallelcluster import clusters
from trainyard.policies.resources.props import Facts, members
from trainyard.policies.resources.types import CLOUDFORMATION_STACK
from trainyard.policies.rule import Config, resource_rule

_WORLD = "0.0.0.0/0"


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    for cluster in clusters(facts.get("templateBody")):
        head_node = members(cluster, "HeadNode")
        # ParallelCluster does not change security groups that it does not create.
        own_groups = members(head_node, "Networking").get("SecurityGroups")
        if not own_groups and members(head_node, "Ssh").get("AllowedIps", _WORLD) == _WORLD:
            yield (
                "its head node accepts SSH connections from every address; set AllowedIps to your "
                "network (in a stack file: ssh.allowed_cidr), or close the port and use Session "
                "Manager"
            )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["network", "baseline", "H5"],
    types=(CLOUDFORMATION_STACK,),
    check=_check,
)
