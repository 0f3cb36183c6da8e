"""No security group opens SSH or Lustre ports to 0.0.0.0/0 or ::/0.

Why:
    Scanners find an open port 22 within minutes. Lustre has no authentication: any client that
    reaches TCP 988 and 1018-1023 can mount the file system. A rule for all protocols opens both.
    For a managed node group with an SSH key and no source security groups, EKS opens port 22 to
    0.0.0.0/0 without a visible rule. Rules between security groups are allowed, including the EFA
    rule of a group for all protocols from itself, which general-purpose rule packs report.
Fix:
    Name the networks or the security group that need access, or use Session Manager.
Source:
    https://docs.aws.amazon.com/vpc/latest/userguide/security-group-rules.html
    https://docs.aws.amazon.com/eks/latest/APIReference/API_RemoteAccessConfig.html
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.props import UNKNOWN, Facts, is_set
from trainyard.policies.resources.security_groups import RULE_HOLDERS, opened_to_the_world
from trainyard.policies.resources.types import EKS_NODE_GROUP
from trainyard.policies.rule import Config, resource_rule

PORTS = {
    "SSH (22)": range(22, 23),
    "Lustre (988)": range(988, 989),
    "Lustre (1018-1023)": range(1018, 1024),
}


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    if resource_type == EKS_NODE_GROUP:
        yield from _remote_access(facts)
        return
    for network, opened in opened_to_the_world(resource_type, facts):
        reached = [name for name, ports in PORTS.items() if _meet(opened, ports)]
        if reached:
            yield (
                f"it opens {', '.join(reached)} to {network}; name the networks or the security "
                "group that need access"
            )


def _meet(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop


def _remote_access(facts: Facts) -> Iterator[str]:
    groups = ("remoteAccess", "sourceSecurityGroupIds")
    if not is_set(facts.get("remoteAccess", "ec2SshKey")) or facts.get(*groups) is UNKNOWN:
        return
    if not facts.count(*groups):
        yield (
            "its remote access has an SSH key and no source security groups, so EKS opens port 22 "
            "of its nodes to 0.0.0.0/0; set source_security_group_ids"
        )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["network", "baseline", "H1", "H2", "H5"],
    types=(*RULE_HOLDERS, EKS_NODE_GROUP),
    check=_check,
)
