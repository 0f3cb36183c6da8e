"""Invalid purchases and placements of capacity."""

from __future__ import annotations

from tests.parallelcluster.support.refusals.case import (
    PRIVATE_A,
    PRIVATE_B,
    QUEUES,
    YAML_QUEUES,
    Case,
)

_TRAIN, _YAML_TRAIN = f"{QUEUES}.train", f"{YAML_QUEUES}.train"
_ML, _YAML_ML = f"{_TRAIN}.compute_resources.ml", f"{_YAML_TRAIN}.ComputeResources.ml"
_BLOCK, _YAML_BLOCK = f"{QUEUES}.block", f"{YAML_QUEUES}.block"
_P5, _YAML_P5 = f"{_BLOCK}.compute_resources.p5", f"{_YAML_BLOCK}.ComputeResources.p5"
_OPEN, _YAML_OPEN = f"{QUEUES}.open", f"{YAML_QUEUES}.open"
_G4DN, _YAML_G4DN = f"{_OPEN}.compute_resources.g4dn", f"{_YAML_OPEN}.ComputeResources.g4dn"
_ASSISTED = "cr-0a550000000000001"

CAPACITY_CASES = (
    Case(
        name="a purchase option that nothing defines",
        ours={f"{_TRAIN}.purchase_option": "p4d"},
        path=f"{_TRAIN}.purchase_option",
        why="the YAML has no names of reservations",
    ),
    Case(
        name="a block with fewer static nodes than nodes",
        ours={f"{_P5}.minimum": 1},
        theirs={f"{_YAML_P5}.MinCount": 1},
        path=f"{_P5}.minimum",
        validators=("ComputeResourceSizeValidator",),
    ),
    Case(
        name="a block without static nodes",
        ours={f"{_P5}.minimum": 0},
        theirs={f"{_YAML_P5}.MinCount": 0},
        path=f"{_P5}.minimum",
        validators=("ComputeResourceSizeValidator",),
    ),
    Case(
        name="a block with a placement group",
        ours={f"{_P5}.placement": {"group": "create"}},
        theirs={f"{_YAML_BLOCK}.Networking.PlacementGroup": {"Enabled": True}},
        path=f"{_P5}.placement.group",
        why="ParallelCluster only warns of the InsufficientInstanceCapacity that follows",
    ),
    Case(
        name="a block with an allocation strategy",
        ours={f"{_BLOCK}.allocation_strategy": "lowest-price"},
        theirs={
            f"{_YAML_BLOCK}.AllocationStrategy": "lowest-price",
            f"{_YAML_P5}.InstanceType": ...,
            f"{_YAML_P5}.Instances": [{"InstanceType": "p5.48xlarge"}],
        },
        path=f"{_BLOCK}.allocation_strategy",
        validators=(
            "CapacityReservationValidator",
            "InstancesAllocationStrategyValidator",
        ),
    ),
    Case(
        name="a block without reservation",
        ours={},
        theirs={f"{_YAML_BLOCK}.CapacityReservationTarget": ...},
        validators=("CapacityTypeValidator",),
        why="the stack file cannot say it: a block is a reservation",
    ),
    Case(
        name="a block for a type that has none",
        ours={f"{_P5}.instance_type": "g4dn.8xlarge", f"{_P5}.efa_enabled": False},
        theirs={
            f"{_YAML_P5}.InstanceType": "g4dn.8xlarge",
            f"{_YAML_P5}.Efa": {"Enabled": False},
        },
        path=f"{_BLOCK}.purchase_option",
        validators=(
            "CapacityReservationValidator",
            "CapacityTypeValidator",
            "ComputeResourceLaunchTemplateValidator",
        ),
    ),
    Case(
        name="a strategy for Spot with on-demand capacity",
        ours={f"{_OPEN}.allocation_strategy": "capacity-optimized"},
        theirs={
            f"{_YAML_OPEN}.AllocationStrategy": "capacity-optimized",
            f"{_YAML_G4DN}.InstanceType": ...,
            f"{_YAML_G4DN}.Instances": [{"InstanceType": "g4dn.8xlarge"}],
        },
        path=f"{_OPEN}.allocation_strategy",
        validators=("InstancesAllocationStrategyValidator",),
    ),
    Case(
        name="a compute resource that buys in another market than its queue",
        ours={f"{_G4DN}.purchase_option": "spot"},
        path=f"{_G4DN}.purchase_option",
        why="the YAML has `CapacityType` at the queue only",
    ),
    Case(
        name="more nodes than the reservation holds",
        ours={f"{_ML}.maximum": 3},
        theirs={f"{_YAML_ML}.MaxCount": 3},
        path=f"{_ML}.maximum",
        validators=("CapacityReservationSizeValidator",),
    ),
    Case(
        name="two compute resources that share too small a reservation",
        ours={
            f"{_TRAIN}.compute_resources.more": {
                "instance_type": "p4de.24xlarge",
                "maximum": 1,
                "efa_enabled": True,
            }
        },
        theirs={
            f"{_YAML_TRAIN}.ComputeResources.+": {
                "Name": "more",
                "InstanceType": "p4de.24xlarge",
                "MinCount": 0,
                "MaxCount": 1,
                "Efa": {"Enabled": True},
            }
        },
        path=f"{_ML}.maximum",
        validators=("CapacityReservationSizeValidator",),
    ),
    Case(
        name="a queue in another zone than its reservation",
        ours={
            f"{_TRAIN}.subnet_ids": ...,
            f"{_TRAIN}.availability_zone": "us-west-2a",
        },
        theirs={f"{_YAML_TRAIN}.Networking.SubnetIds": [PRIVATE_A]},
        path=f"{_TRAIN}.availability_zone",
        validators=(
            "CapacityReservationValidator",
            "ManagedFsxMultiAzValidator",
            "PlacementGroupCapacityReservationValidator",
        ),
    ),
    Case(
        name="a zone of another region",
        ours={f"{_OPEN}.subnet_ids": ..., f"{_OPEN}.availability_zone": "us-east-1a"},
        path=f"{_OPEN}.availability_zone",
        why="the YAML has no zones",
    ),
    Case(
        name="another placement group than that of the reservation",
        ours={f"{_ML}.placement": {"group": "create"}},
        theirs={f"{_YAML_TRAIN}.Networking.PlacementGroup": {"Enabled": True}},
        path=f"{_ML}.placement.group",
        validators=("PlacementGroupCapacityReservationValidator",),
    ),
    Case(
        name="no placement group with a reservation that was made in one",
        ours={f"{_ML}.placement": {"group": "none"}},
        theirs={f"{_YAML_TRAIN}.Networking.PlacementGroup": {"Enabled": False}},
        path=f"{_ML}.placement.group",
        why="only instances in the group use such a reservation",
    ),
    Case(
        name="a placement group with a reservation that AWS delivered",
        ours={
            "reservations.aws": {
                "kind": "odcr",
                "reservation_id": _ASSISTED,
                "provenance": "aws-assisted",
            },
            f"{_OPEN}.purchase_option": "aws",
            f"{_G4DN}.instance_type": "p5.48xlarge",
            f"{_G4DN}.maximum": 2,
            f"{_G4DN}.placement": {"group": "create"},
        },
        theirs={
            f"{_YAML_OPEN}.CapacityReservationTarget": {"CapacityReservationId": _ASSISTED},
            f"{_YAML_OPEN}.Networking.PlacementGroup": {"Enabled": True},
            f"{_YAML_G4DN}.InstanceType": "p5.48xlarge",
            f"{_YAML_G4DN}.MaxCount": 2,
        },
        path=f"{_G4DN}.placement.group",
        validators=("PlacementGroupCapacityReservationValidator",),
    ),
    Case(
        name="a placement group of the customer's with a reservation that AWS delivered",
        ours={"reservations.p4de.provenance": "aws-assisted"},
        path="reservations.p4de.placement_group",
        why="the YAML does not say who made a reservation",
    ),
    Case(
        name="a reservation by its id and by a group",
        ours={
            "reservations.p4de": {
                "kind": "odcr-group",
                "group_arn": "arn:aws:resource-groups:us-west-2:123456789012:group/p4de",
                "members": ["cr-00d00000000000001"],
            }
        },
        theirs={
            f"{_YAML_TRAIN}.CapacityReservationTarget.CapacityReservationResourceGroupArn": (
                "arn:aws:resource-groups:us-west-2:123456789012:group/p4de"
            )
        },
        path="reservations.p4de.group_arn",
        validators=("ConfigSchemaValidator",),
    ),
    Case(
        name="EFA without a zone",
        ours={
            "storage": {},
            f"{_OPEN}.subnet_ids": ...,
            f"{_G4DN}.efa_enabled": True,
        },
        theirs={
            "SharedStorage": ...,
            f"{_YAML_OPEN}.Networking.SubnetIds": [PRIVATE_A, PRIVATE_B],
            f"{_YAML_G4DN}.InstanceType": ...,
            f"{_YAML_G4DN}.Instances": [{"InstanceType": "g4dn.8xlarge"}],
            f"{_YAML_G4DN}.Efa": {"Enabled": True},
        },
        path=f"{_OPEN}.availability_zone",
        validators=("EfaMultiAzValidator",),
    ),
)
