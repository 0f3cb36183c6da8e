"""The nodes of a configuration, as the stand-in of ParallelCluster's provider reads them.

The reading classes are ParallelCluster's own, so one process of its environment reads for all tests
of this file.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.cluster_configs import Config, nodes, p4de, queue, setting
from tests.support.provider_readings import Read
from tests.support.sandbox_aws import BLOCK, ODCR_IN_GROUP, VPC

pytestmark = pytest.mark.parallelcluster

PUBLIC_B, PRIVATE_B = "subnet-0b000000000000001", "subnet-0b000000000000002"
HEAD_GROUP, NODES_GROUP = "sg-00000000000000001", "sg-00000000000000002"
HEAD, QUEUE = "HeadNode", "Scheduling/SlurmQueues/0"


def block(config: Config) -> None:
    """Make the nodes those of a Capacity Block."""
    queue(config)["CapacityType"] = "CAPACITY_BLOCK"
    nodes(config).update(
        InstanceType="p5.48xlarge", CapacityReservationTarget={"CapacityReservationId": BLOCK}
    )


def spot(config: Config) -> None:
    """Use Spot nodes in a placement group of the cluster."""
    queue(config)["CapacityType"] = "SPOT"
    del nodes(config)["CapacityReservationTarget"]
    nodes(config).update(MinCount=0, SpotPrice=1.5)
    queue(config)["Networking"]["PlacementGroup"] = {"Enabled": True}


CLUSTERS = {
    "plain": p4de(),
    "block": p4de(block),
    "spot": p4de(spot),
    "named": p4de(setting(f"{QUEUE}/Networking/PlacementGroup", {"Name": "mine"})),
    "of-the-queue": p4de(
        lambda config: queue(config).update(
            CapacityReservationTarget=nodes(config).pop("CapacityReservationTarget")
        )
    ),
    "combined": p4de(setting("DevSettings/EfaInterfaceType", "efa")),
    "address": p4de(setting(f"{HEAD}/Networking/ElasticIp", "true")),
    "allocation": p4de(setting(f"{HEAD}/Networking/ElasticIp", "eipalloc-0123456789abcdef0")),
    "groups": p4de(
        setting(f"{HEAD}/Networking/SecurityGroups", [HEAD_GROUP]),
        setting(f"{QUEUE}/Networking/AdditionalSecurityGroups", [NODES_GROUP]),
    ),
    "volumes": p4de(
        setting(f"{HEAD}/LocalStorage/RootVolume", {"Size": 500, "Encrypted": "false"}),
        setting("Monitoring/Logs/CloudWatch/Enabled", "false"),
    ),
    "tagged": p4de(
        setting("Tags", [{"Key": "team", "Value": "a"}]),
        setting(f"{QUEUE}/Tags", [{"Key": "team", "Value": "b"}]),
    ),
    "login": p4de(
        setting(
            "LoginNodes/Pools",
            [
                {
                    "Name": "login",
                    "Count": 1,
                    "InstanceType": "m5.large",
                    "Networking": {"SubnetIds": [PUBLIC_B]},
                }
            ],
        )
    ),
}


@pytest.fixture(scope="module")
def clusters(read_by_provider: Read) -> dict[str, Any]:
    return read_by_provider(clusters=CLUSTERS)


def compute(cluster: dict[str, Any]) -> dict[str, Any]:
    (found,) = cluster["compute"]
    return found


def test_a_cluster_is_what_its_configuration_says(clusters: dict[str, Any]) -> None:
    plain = clusters["plain"]
    head, found = plain["head_node"], compute(plain)
    assert (plain["vpc_id"], plain["has_log_group"]) == (VPC, True)
    assert (head["instance_type"], head["subnet_id"]) == ("m5.8xlarge", PUBLIC_B)
    assert (head["key_name"], head["allowed_ips"]) == ("sandbox", "0.0.0.0/0")
    assert (found["queue"], found["name"], found["static_count"]) == ("train", "p4de", 2)
    assert found["subnet_id"] == PRIVATE_B
    assert found["image_id"] == head["image_id"] == "ami-0c00000000000a231"
    assert found["placement_group"] is None
    assert found["makes_placement_group"] is False


def test_nodes_carry_the_tags_of_parallelcluster(clusters: dict[str, Any]) -> None:
    tags = compute(clusters["plain"])["tags"]
    assert tags["Name"] == tags["parallelcluster:node-type"] == "Compute"
    assert tags["parallelcluster:cluster-name"] == "plain"
    assert tags["parallelcluster:networking"] == "EFA=true"
    assert tags["parallelcluster:attributes"] == "alinux2023, slurm, 3.16.1, x86_64"
    assert clusters["plain"]["head_node"]["tags"]["parallelcluster:networking"] == "EFA=NONE"


def test_a_tag_of_a_queue_outdoes_that_of_the_cluster(clusters: dict[str, Any]) -> None:
    assert clusters["tagged"]["tags"]["team"] == "a"
    assert compute(clusters["tagged"])["tags"]["team"] == "b"


def test_efa_has_interfaces_of_its_own_unless_the_settings_combine_them(
    clusters: dict[str, Any],
) -> None:
    kinds = {
        name: [each.get("InterfaceType") for each in compute(clusters[name])["interfaces"]]
        for name in ("plain", "combined")
    }
    assert kinds == {
        "plain": [None, "efa-only", "efa-only", "efa-only", "efa-only"],
        "combined": ["efa", "efa", "efa", "efa"],
    }


@pytest.mark.parametrize("name", ["plain", "of-the-queue"])
def test_a_reservation_is_asked_for_by_queue_or_compute_resource(
    clusters: dict[str, Any], name: str
) -> None:
    target = {"CapacityReservationTarget": {"CapacityReservationId": ODCR_IN_GROUP}}
    assert compute(clusters[name])["launch"] == {"CapacityReservationSpecification": target}


def test_a_capacity_block_is_a_market_and_a_reservation(clusters: dict[str, Any]) -> None:
    target = {"CapacityReservationTarget": {"CapacityReservationId": BLOCK}}
    assert compute(clusters["block"])["launch"] == {
        "InstanceMarketOptions": {"MarketType": "capacity-block"},
        "CapacityReservationSpecification": target,
    }
    assert len(compute(clusters["block"])["interfaces"]) == 33


def test_spot_has_a_price_and_a_placement_group_of_the_cluster(clusters: dict[str, Any]) -> None:
    found = compute(clusters["spot"])
    options = found["launch"]["InstanceMarketOptions"]
    assert (options["MarketType"], options["SpotOptions"]["MaxPrice"]) == ("spot", "1.5")
    assert found["placement_group"] == "spot-train-p4de"
    assert found["makes_placement_group"] is True


def test_a_placement_group_that_exists_is_not_made(clusters: dict[str, Any]) -> None:
    found = compute(clusters["named"])
    assert (found["placement_group"], found["makes_placement_group"]) == ("mine", False)


def test_an_address_is_made_or_taken(clusters: dict[str, Any]) -> None:
    """CloudFormation converts `true` to `"true"`."""
    assert clusters["plain"]["head_node"]["elastic_ip"] is False
    assert clusters["address"]["head_node"]["elastic_ip"] is True
    assert clusters["allocation"]["head_node"]["elastic_ip"] == "eipalloc-0123456789abcdef0"


def test_groups_replace_the_own_one_or_come_beside_it(clusters: dict[str, Any]) -> None:
    head, found = clusters["groups"]["head_node"], compute(clusters["groups"])
    assert (head["security_groups"], head["additional_security_groups"]) == ([HEAD_GROUP], [])
    assert (found["security_groups"], found["additional_security_groups"]) == ([], [NODES_GROUP])


def test_a_root_volume_and_the_logs_are_as_they_are_set(clusters: dict[str, Any]) -> None:
    volume = clusters["volumes"]["head_node"]["root_volume"]
    assert (volume["VolumeSize"], volume["Encrypted"]) == (500, False)
    assert clusters["volumes"]["has_log_group"] is False


def test_login_nodes_are_refused_as_what_the_sandbox_does_not_have(
    clusters: dict[str, Any],
) -> None:
    assert "leave LoginNodes out" in clusters["login"]["refused"]
