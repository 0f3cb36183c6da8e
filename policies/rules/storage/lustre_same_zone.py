"""Nodes with EFA lie in the zone of the Lustre file system of their program.

Why:
    A Lustre file system lies in one zone. Nodes in another one mount it, and pay for every byte
    that crosses, at a latency that a training job sees; with EFA or GPUDirect Storage the client
    falls back to TCP.
Fix:
    Make the file system in the subnet of the nodes.
Source:
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity, StackValidationPolicy

from policies.resources.pools import pools
from policies.resources.stack import Stack
from policies.resources.subnets import zones_of_group, zones_of_subnets
from policies.resources.types import LUSTRE_FILE_SYSTEM, SUBNET
from policies.rule import Config, on_stack


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
                        f"it lies in {', '.join(where)}, and the nodes of {user.resource.name} "
                        f"in {', '.join(sorted(zones))}; make it in a subnet of their zone"
                    ),
                )


def _zone(stack: Stack, system: PolicyResource) -> frozenset[str] | None:
    reference = stack.refers(system, "subnetIds", to=SUBNET)
    found = zones_of_subnets(stack, reference.resources if reference else None)
    return found if found is not None and len(found) == 1 else None


POLICY = StackValidationPolicy(
    name="lustre-same-zone",
    display_name="Lustre file systems lie in the zone of the nodes",
    description="Nodes with EFA lie in the zone of the program's Lustre file systems.",
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["storage", "network", "F8"],
    remediation_steps="Make the file system in a subnet of the nodes' zone.",
    url="https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html",
    validate=on_stack(_check),
)
