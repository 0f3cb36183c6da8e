"""An eksctl `ClusterConfig` becomes the stack file that means the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.import_sources import (
    GPU,
    SYSTEM,
    ZONES,
    cluster_config,
)
from tests.support.importing import at, outcomes, read_text

TARGET = "capacityReservationTarget: {capacityReservationID: cr-0123456789abcdef0}"
VPC = """\
vpc:
  id: vpc-0123456789abcdef0
  subnets:
    private:
      one: {id: subnet-0123456789abcdef1, az: us-west-2a}
      two: {id: subnet-0123456789abcdef2}
    public: {three: {id: subnet-0123456789abcdef3}}
"""


def group(name: str = "gpu") -> tuple[str, ...]:
    return ("architecture", "node_groups", name)


def test_a_cluster_with_a_group_for_services_and_one_of_a_reservation(tmp_path: Path):
    read = read_text(tmp_path, cluster_config())
    assert (read.stack.name, read.stack.region) == ("train", "us-west-2")
    assert at(read, "network") == {
        "kind": "new-vpc",
        "availability_zones": ["us-west-2a", "us-west-2b"],
    }
    assert at(read, "architecture", "kubernetes_version") == "1.36"
    assert at(read, "architecture", "system_node_group") == {
        "minimum": 1,
        "desired": 1,
        "maximum": 1,
        "instance_type": "c5.2xlarge",
        "root_volume": {"size_gib": 80},
    }
    assert at(read, *group()) == {
        "management": "managed",
        "minimum": 0,
        "desired": 2,
        "maximum": 4,
        "purchase_option": "gpu",
        "efa_enabled": True,
        "availability_zone": "us-west-2b",
        "instance_type": "p5.48xlarge",
        "root_volume": {"size_gib": 80},
    }
    assert at(read, "reservations", "gpu") == {
        "kind": "odcr",
        "reservation_id": "cr-0123456789abcdef0",
    }
    assert read.stack.unknown == {}


@pytest.mark.parametrize(
    ("change", "reservation", "purchase_option"),
    [
        (("  minSize", "  instanceMarketOptions: {marketType: capacity-block}\n  minSize"),
         {"kind": "capacity-block"}, "gpu"),
        ((f"capacityReservation: {{{TARGET}}}", "spot: true"), None, "spot"),
        ((f"capacityReservation: {{{TARGET}}}",
          "instanceMarketOptions: {marketType: capacity-block}"),
         {"kind": "capacity-block"}, "gpu"),
        (("capacityReservationID: cr-0123456789abcdef0",
          "capacityReservationResourceGroupARN: arn:group"),
         {"kind": "odcr-group", "group_arn": "arn:group"}, "gpu"),
    ],
    ids=["block", "spot", "block without its id", "group"],
)  # fmt: skip
def test_capacity_by_its_kind(
    tmp_path: Path,
    change: tuple[str, str],
    reservation: dict[str, Any] | None,
    purchase_option: str,
):
    read = read_text(tmp_path, cluster_config(SYSTEM + GPU.replace(*change)))
    found = read.stack.values.get("reservations", {}).get("gpu")
    assert (found and {**found, **(reservation or {})}) == found
    assert (found is None) == (reservation is None)
    assert at(read, *group(), "purchase_option") == purchase_option


def test_an_interruptible_reservation_is_not_taken_for_an_ordinary_one(tmp_path: Path):
    market = "  instanceMarketOptions: {marketType: interruptible-capacity-reservation}\n  minSize"
    read = read_text(tmp_path, cluster_config(SYSTEM + GPU.replace("  minSize", market)))
    (fate, _), *_ = (f for key, f in outcomes(read).items() if key.endswith("marketType"))
    assert fate == "not supported"


def test_an_existing_vpc_with_named_subnets(tmp_path: Path):
    gpu = GPU.replace("availabilityZones: [us-west-2b]", "subnets: [two]")
    read = read_text(tmp_path, cluster_config(gpu, VPC))
    assert at(read, "network") == {
        "kind": "existing-vpc",
        "vpc_id": "vpc-0123456789abcdef0",
        "private_subnet_ids": ["subnet-0123456789abcdef1", "subnet-0123456789abcdef2"],
        "public_subnet_ids": ["subnet-0123456789abcdef3"],
    }
    assert at(read, *group(), "subnet_id") == "subnet-0123456789abcdef2"
    assert "system_node_group" not in at(read, "architecture")
    assert "adds a system node group" in read.report.notes[0]


def test_ids_of_examples_are_left_for_the_user(tmp_path: Path):
    vpc = VPC.replace("vpc-0123456789abcdef0", "PLACEHOLDER_VPC_ID")
    vpc = vpc.replace("subnet-0123456789abcdef", "PLACEHOLDER_")
    gpu = GPU.replace("cr-0123456789abcdef0", "cr-xxxxxxxxxx").replace(
        "us-west-2b", "PLACEHOLDER_AZ"
    )
    read = read_text(tmp_path, cluster_config(gpu, vpc))
    assert at(read, "network") == {"kind": "existing-vpc"}
    assert set(read.stack.unknown) == {
        ("network", "vpc_id"),
        ("network", "private_subnet_ids"),
        ("network", "public_subnet_ids"),
        ("reservations", "gpu", "reservation_id"),
        (*group(), "availability_zone"),
    }


@pytest.mark.parametrize(
    ("sizes", "minimum", "desired", "maximum"),
    [
        ("", 2, 2, 2),
        ("desiredCapacity: 3", 3, 3, 3),
        ("minSize: 1, maxSize: 5", 1, 1, 5),
        ("minSize: 0, desiredCapacity: 0", 0, 0, 1),
    ],
)
def test_sizes_have_the_defaults_of_eksctl(
    tmp_path: Path, sizes: str, minimum: int, desired: int, maximum: int
):
    managed = f"- {{name: gpu, instanceType: g5.8xlarge, {sizes}}}\n"
    found = at(read_text(tmp_path, cluster_config(managed)), *group())
    assert (found["minimum"], found["desired"], found["maximum"]) == (minimum, desired, maximum)


def test_a_version_out_of_support_is_replaced_with_the_reason(tmp_path: Path):
    read = read_text(tmp_path, cluster_config(version="1.28"))
    assert at(read, "architecture", "kubernetes_version") == "1.36"
    key = "architecture.kubernetes_version"
    assert outcomes(read)["metadata.version"] == ("taken over better", key)


def test_self_managed_groups_addons_taints_and_permissions(tmp_path: Path):
    more = ZONES + (
        "nodeGroups:\n"
        "  - name: trn\n"
        "    instanceType: trn1.32xlarge\n"
        "    availabilityZones: [us-west-2b]\n"
        "    taints: {'aws.amazon.com/neuron': 'true:NoSchedule'}\n"
        "    labels: {team: a}\n"
        "    volumeSize: 500\n"
        "    ssh: {allow: true, publicKeyName: mine}\n"
        "    iam:\n"
        "      withAddonPolicies: {fsx: true, ebs: false, externalDNS: true}\n"
        "      attachPolicyARNs: ['arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy',"
        " 'arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess']\n"
        "addons:\n"
        "  - {name: vpc-cni, version: latest}\n"
        "  - {name: aws-fsx-csi-driver, version: v1.9.0-eksbuild.1}\n"
        "  - {name: metrics-server}\n"
        "cloudWatch: {clusterLogging: {enableTypes: ['*'], logRetentionInDays: 2557}}\n"
    )
    read = read_text(tmp_path, cluster_config(more=more))
    found = at(read, *group("trn"))
    assert found["management"] == "self-managed"
    assert found["taints"] == [
        {"key": "aws.amazon.com/neuron", "value": "true", "effect": "NoSchedule"}
    ]
    assert found["labels"] == {"team": "a"}
    assert found["addon_policies"] == ["fsx"]
    assert found["iam_policies"] == ["AmazonS3ReadOnlyAccess"]
    assert found["ssh_key_name"] == "mine"
    assert at(read, "architecture", "addons") == {
        "fsx_csi_driver": True,
        "versions": {"aws-fsx-csi-driver": "v1.9.0-eksbuild.1"},
    }
    assert len(at(read, "architecture", "log_types")) == 5
    assert at(read, "architecture", "log_retention_days") == 2557
    policies = "nodeGroups[0].iam.withAddonPolicies"
    assert outcomes(read)[f"{policies}.ebs"] == ("implied", "")
    assert outcomes(read)[f"{policies}.externalDNS"] == ("not supported", "")
    assert outcomes(read)["addons[2].name"] == ("not supported", "")


@pytest.mark.parametrize(("says", "hops"), [("true", 1), ("false", 2)])
def test_nodes_whose_metadata_pods_do_not_reach_stay_so(
    tmp_path: Path, says: str, hops: int | None
) -> None:
    """Its pods do not reach the metadata of nodes: https://docs.aws.amazon.com/eks/latest/eksctl/security.html."""
    more = ZONES + (
        "nodeGroups:\n"
        "  - name: gpu\n"
        "    instanceType: g5.12xlarge\n"
        "    availabilityZones: [us-west-2b]\n"
        f"    disablePodIMDS: {says}\n"
    )
    read = read_text(tmp_path, cluster_config(more=more))
    assert at(read, *group("gpu")).get("metadata_hop_limit") == hops
    fate = outcomes(read)["nodeGroups[0].disablePodIMDS"][0]
    assert fate == ("taken over" if hops else "dropped")


def test_a_private_cluster_has_endpoints_instead_of_gateways(tmp_path: Path):
    more = f"{ZONES}privateCluster: {{enabled: true, additionalEndpointServices: [autoscaling]}}\n"
    read = read_text(tmp_path, cluster_config(more=more))
    network = at(read, "network")
    assert (network["public_subnets"], network["nat_gateways"]) == (False, "none")
    assert network["interface_endpoints"][-1] == "autoscaling"
    assert at(read, "architecture", "endpoint") == {"public_access": False}
