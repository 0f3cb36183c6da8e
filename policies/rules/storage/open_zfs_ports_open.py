"""OpenZFS file systems have a security group that lets NFS clients in.

Why:
    Clients mount over TCP 111, 2049 and 20001-20003. A group that lets in TCP 2049 alone serves
    NFS 4.1 and later; with an older version, as ParallelCluster and many images ask for by default,
    the mount hangs when a node boots.
Fix:
    Add ingress rules for TCP and UDP 111, 2049 and 20001-20003 from the clients' group.
Source:
    https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.security_groups import ports_not_passed, security_groups_of
from policies.resources.stack import Stack
from policies.resources.types import OPENZFS_FILE_SYSTEM
from policies.rule import Config, on_stack

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
                    f"its security groups let no client in on TCP {said}: mounts may hang; add "
                    "ingress rules for 111, 2049 and 20001-20003 from the clients"
                ),
            )


POLICY = StackValidationPolicy(
    name="open-zfs-ports-open",
    display_name="OpenZFS lets NFS clients in",
    description="Security groups of OpenZFS file systems let in TCP 111, 2049 and 20001-20003.",
    # NFS 4.1 and later needs 2049 only.
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["storage", "network", "F7"],
    remediation_steps="Add ingress rules for 111, 2049 and 20001-20003 from the clients.",
    url="https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html",
    validate=on_stack(_check),
)
