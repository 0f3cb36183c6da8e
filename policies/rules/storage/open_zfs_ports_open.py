"""Security groups of OpenZFS file systems allow TCP 111, 2049 and 20001-20003 from NFS clients.

Why:
    TCP 2049 alone is enough for NFS 4.1 and later. Older NFS versions, which ParallelCluster and
    many images use by default, need all of these ports, and the mount hangs when a node boots.
Fix:
    Add ingress rules for TCP and UDP 111, 2049 and 20001-20003 from the group of the clients.
Source:
    https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.security_groups import ports_not_passed, security_groups_of
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import OPENZFS_FILE_SYSTEM
from trainyard.policies.rule import Config, stack_rule

PORTS = ((111, 111), (2049, 2049), (20001, 20003))


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for system in stack.of_type(OPENZFS_FILE_SYSTEM):
        groups = security_groups_of(stack, system, "securityGroupIds")
        missing = ports_not_passed(stack, groups, "ingress", PORTS) if groups else []
        if missing:
            said = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in missing)
            yield (
                system.urn,
                (
                    f"its security groups do not allow clients on TCP {said}, so mounts may hang; "
                    "add ingress rules for 111, 2049 and 20001-20003 from the clients"
                ),
            )


POLICY = stack_rule(
    __name__,
    __doc__,
    # Advisory: NFS 4.1 and later needs only 2049.
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["network", "F7"],
    check=_check,
)
