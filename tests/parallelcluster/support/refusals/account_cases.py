"""Broken clusters that only checks against the account detect."""

from __future__ import annotations

from tests.parallelcluster.support.refusals.case import (
    PRIVATE_B,
    QUEUES,
    TINY_B,
    YAML_QUEUES,
    Case,
)

_OPEN, _YAML_OPEN = f"{QUEUES}.open", f"{YAML_QUEUES}.open"
_YAML_G4DN = f"{_YAML_OPEN}.ComputeResources.g4dn"
_ML, _YAML_ML = f"{QUEUES}.train.compute_resources.ml", f"{YAML_QUEUES}.train.ComputeResources.ml"
_HEAD = "architecture.head_node"
_OTHER_VERSION, _UBUNTU = "ami-0c0000000000bad01", "ami-0c000000000022041"

ACCOUNT_CASES = (
    Case(
        name="a key pair that does not exist",
        ours={f"{_HEAD}.ssh.key_name": "lost"},
        theirs={"HeadNode.Ssh.KeyName": "lost"},
        path=f"{_HEAD}.ssh.key_name",
        validators=("HeadNodeLaunchTemplateValidator", "KeyPairValidator"),
        account=True,
    ),
    Case(
        name="an RSA key pair with Ubuntu",
        ours={"architecture.operating_system": "ubuntu2204", f"{_HEAD}.ssh.key_name": "rsa"},
        theirs={"Image.Os": "ubuntu2204", "HeadNode.Ssh.KeyName": "rsa"},
        path=f"{_HEAD}.ssh.key_name",
        validators=("KeyPairValidator",),
        account=True,
    ),
    Case(
        name="an image that another ParallelCluster made",
        ours={"architecture.custom_ami_id": _OTHER_VERSION},
        theirs={"Image.CustomAmi": _OTHER_VERSION},
        path="architecture.custom_ami_id",
        validators=("CustomAmiTagValidator",),
        account=True,
    ),
    Case(
        name="an image of another operating system",
        ours={"architecture.custom_ami_id": _UBUNTU},
        theirs={"Image.CustomAmi": _UBUNTU},
        path="architecture.custom_ami_id",
        validators=("AmiOsCompatibleValidator",),
        account=True,
    ),
    Case(
        name="an image that does not exist",
        ours={"architecture.custom_ami_id": "ami-0fffffffffffffff0"},
        theirs={"Image.CustomAmi": "ami-0fffffffffffffff0"},
        path="architecture.custom_ami_id",
        validators=("AWSClientError",),
        account=True,
    ),
    Case(
        name="two subnets of one zone",
        ours={
            "storage": {},
            "network.private_subnet_ids": [PRIVATE_B, TINY_B],
            f"{_OPEN}.subnet_ids": [PRIVATE_B, TINY_B],
        },
        theirs={
            "SharedStorage": ...,
            f"{_YAML_OPEN}.Networking.SubnetIds": [PRIVATE_B, TINY_B],
            f"{_YAML_G4DN}.InstanceType": ...,
            f"{_YAML_G4DN}.Instances": [{"InstanceType": "g4dn.8xlarge"}],
        },
        path=f"{_OPEN}.subnet_ids",
        validators=("QueueSubnetsValidator",),
        account=True,
    ),
    Case(
        name="a reservation of another instance type",
        ours={f"{_ML}.instance_type": "p4d.24xlarge"},
        theirs={f"{_YAML_ML}.InstanceType": "p4d.24xlarge"},
        path=f"{_ML}.instance_type",
        validators=(
            "CapacityReservationValidator",
            "PlacementGroupCapacityReservationValidator",
        ),
        account=True,
    ),
    Case(
        name="a reservation that does not exist",
        ours={"reservations.p4de.reservation_id": "cr-0ffffffffffffffff"},
        theirs={
            f"{YAML_QUEUES}.train.CapacityReservationTarget.CapacityReservationId": (
                "cr-0ffffffffffffffff"
            )
        },
        path="reservations.p4de.reservation_id",
        validators=("AWSClientError",),
        account=True,
    ),
    Case(
        name="a placement group that does not exist",
        ours={
            "reservations.p4de.placement_group": "lost",
        },
        theirs={f"{YAML_QUEUES}.train.Networking.PlacementGroup.Name": "lost"},
        path="reservations.p4de.placement_group",
        validators=(
            "PlacementGroupCapacityReservationValidator",
            "PlacementGroupNamingValidator",
        ),
        account=True,
    ),
    Case(
        name="a managed policy that does not exist",
        ours={f"{_HEAD}.iam_policies": ["AmazonLostReadOnly"]},
        theirs={
            "HeadNode.Iam.AdditionalIamPolicies": [
                {"Policy": "arn:aws:iam::aws:policy/AmazonLostReadOnly"}
            ]
        },
        path=f"{_HEAD}.iam_policies[0]",
        validators=("AdditionalIamPolicyValidator",),
        account=True,
    ),
)
