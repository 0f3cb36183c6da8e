"""Nodes that are placed together for training use the EFA interfaces of their instance type.

Why:
    A p5.48xlarge without EFA interfaces has 100 Gbit/s of network bandwidth instead of 3,200
    Gbit/s, and collective communication uses TCP. The job runs several times slower, without an
    error. EFA has no extra cost. The rule applies to types with more than one EFA interface, in
    pools of several nodes in a placement group or a Capacity Block. Nodes that serve requests
    independently do not need EFA.
Fix:
    Add the EFA interfaces of the instance type to the launch template; in ParallelCluster set `Efa:
    {Enabled: true}` (in a stack file: `efa_enabled: true` of the nodes).
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/efa-v3.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.policies.resources.launches import CAPACITY_BLOCK, Launch
from trainyard.policies.resources.parallelcluster import CAPACITY_BLOCK as PARALLELCLUSTER_BLOCK
from trainyard.policies.resources.parallelcluster import ComputeResource, compute_resources_of
from trainyard.policies.resources.pools import Pool, pools
from trainyard.policies.resources.props import UNKNOWN, is_true
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for pool in pools(stack):
        for template, launch in pool.templates():
            name = _wasted(pool.launched_types(launch))
            if name and _trains(pool, launch) and not launch.efa_interfaces():
                yield pool.resource.urn, _fault(name, f"its launch template {template.name}")
    for clusters, nodes in compute_resources_of(stack):
        name = _wasted(nodes.instance_types)
        if name and _trains_in_slurm(nodes):
            yield clusters.urn, _fault(name, f"its compute resource {nodes.name}")


def _wasted(types: Iterable[object]) -> str | None:
    """Return the only type, if it is in the catalog and has more than one EFA interface."""
    names = set(types)
    found = [INSTANCE_TYPES.get(str(name)) for name in names]
    if len(found) != 1 or found[0] is None or found[0].efa_interfaces < 2:
        return None
    return found[0].name


def _trains(pool: Pool, launch: Launch) -> bool:
    placed = pool.placement_group is not None or launch.placement_group is not None
    together = placed or launch.market_type == CAPACITY_BLOCK
    # An unknown list of interfaces, or an unknown type in it, may include EFA.
    known = launch.facts.needed("networkInterfaces") is not UNKNOWN and all(
        isinstance(interface.type, str) for interface in launch.interfaces()
    )
    return together and known and pool.may_hold_several(launch)


def _trains_in_slurm(nodes: ComputeResource) -> bool:
    placed = nodes.placement_group is not None or nodes.capacity_type == PARALLELCLUSTER_BLOCK
    several = nodes.maximum is not None and nodes.maximum > 1
    return placed and several and not is_true(nodes.efa.get("Enabled"))


def _fault(name: str, where: str) -> str:
    count = INSTANCE_TYPES[name].efa_interfaces
    return (
        f"{where} places several {name} together without an EFA interface, so they "
        f"communicate over TCP; add the {count} EFA interfaces of the type, or remove the "
        "placement group if the nodes do not communicate"
    )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["A2"],
    check=_check,
)
