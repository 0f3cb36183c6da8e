"""A ParallelCluster queue with EFA has settings that ParallelCluster accepts.

Why:
    ParallelCluster validates EFA when it creates the cluster, and the deployment then rolls back.
    It rejects EFA on a type without EFA, GPUDirect without EFA, EFA over several subnets, EFA
    without a `PlacementGroup` setting, and public addresses for nodes with several network
    interfaces.
Fix:
    Set `Efa: {Enabled: true}` only for types with EFA in a queue with one subnet, together with
    `PlacementGroup: {Enabled: …}`, and remove `AssignPublicIp`.
Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/efa-v3.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
    https://github.com/aws/aws-parallelcluster, EfaValidator, EfaPlacementGroupValidator,
    EfaMultiAzValidator, MultiNetworkInterfacesInstancesValidator
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.policies.resources.parallelcluster import (
    CAPACITY_BLOCK,
    ComputeResource,
    compute_resources,
)
from trainyard.policies.resources.props import Facts, is_true
from trainyard.policies.resources.types import CLOUDFORMATION_STACK
from trainyard.policies.rule import Config, resource_rule


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    for nodes in compute_resources(facts.get("templateBody")):
        for fault in (*_efa_faults(nodes), *_address_faults(nodes)):
            yield nodes.where + fault


def _efa_faults(nodes: ComputeResource) -> Iterator[str]:
    if not is_true(nodes.efa.get("Enabled")):
        if is_true(nodes.efa.get("GdrSupport")):
            yield "GdrSupport is on without EFA; set Efa: {Enabled: true}, or remove GdrSupport"
        return
    for name in nodes.instance_types:
        instance_type = INSTANCE_TYPES.get(name)
        if instance_type is not None and not instance_type.efa_supported:
            yield f"EFA is on, but {name} has no EFA; set Efa: {{Enabled: false}}"
    if len(nodes.subnets) > 1:
        yield (
            f"EFA is on over {len(nodes.subnets)} subnets, and EFA does not cross zones; keep "
            "one subnet in SubnetIds of the queue"
        )
    elif not nodes.placement and nodes.capacity_type != CAPACITY_BLOCK:
        yield (
            "EFA is on without a PlacementGroup setting, which ParallelCluster rejects; set "
            "PlacementGroup: {Enabled: true}, or false if a reservation already has a placement"
        )


def _address_faults(nodes: ComputeResource) -> Iterator[str]:
    for name in nodes.instance_types:
        instance_type = INSTANCE_TYPES.get(name)
        if nodes.public_address and instance_type and len(instance_type.network_cards) > 1:
            yield (
                f"AssignPublicIp is on, and {name} has {len(instance_type.network_cards)} network "
                "interfaces, with which EC2 assigns no public address; remove AssignPublicIp"
            )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["A1", "A3", "A6", "A8", "A9", "A10"],
    types=(CLOUDFORMATION_STACK,),
    check=_check,
)
