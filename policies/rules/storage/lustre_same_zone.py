"""Nodes with EFA are in the same Availability Zone as the Lustre file systems of the program.

Why:
    A Lustre file system is in one zone. Nodes in other zones pay for the traffic and have a higher
    latency. With EFA or GPUDirect Storage the client falls back to TCP.
Fix:
    Create the file system in the subnet of the nodes.
Source:
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity

from trainyard.policies.resources.pools import pools
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.subnets import zones_of_group, zones_of_subnets
from trainyard.policies.resources.types import LUSTRE_FILE_SYSTEM, SUBNET
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    users = [pool for pool in pools(stack) if pool.efa_template() is not None]
    for system in stack.of_type(LUSTRE_FILE_SYSTEM):
        where = _zone(stack, system)
        for user in users:
            zones = zones_of_group(stack, user.resource)
            if where is not None and zones is not None and not zones & where:
                yield (
                    system.urn,
                    (
                        f"it is in {', '.join(where)}, and the nodes of {user.resource.name} are "
                        f"in {', '.join(sorted(zones))}; create it in a subnet of their zone"
                    ),
                )


def _zone(stack: Stack, system: PolicyResource) -> frozenset[str] | None:
    reference = stack.refers(system, "subnetIds", to=SUBNET)
    found = zones_of_subnets(stack, reference.resources if reference else None)
    return found if found is not None and len(found) == 1 else None


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["network", "F8"],
    check=_check,
)
