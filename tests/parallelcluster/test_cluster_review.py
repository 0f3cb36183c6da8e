"""Problems and notes of a ParallelCluster stack as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.parallelcluster import raw_g4dn, raw_p4de
from tests.support.stack_files import RESERVATION, notes, refusals

TOKEN = "arn:aws:lambda:us-west-2:123456789012:function:pcluster-cfn-provider"
NEW_VPC = {"kind": "new-vpc", "availability_zones": ["us-west-2a"], "flow_logs": True}


def block(**times: str) -> dict[str, Any]:
    return raw_p4de(
        reservations__p4de={
            "kind": "capacity-block",
            "reservation_id": RESERVATION,
            "availability_zone": "us-west-2b",
            **times,
        }
    )


@pytest.mark.parametrize(
    ("raw", "key", "says"),
    [
        (raw_g4dn(name="a" * 61), "name", "ClusterNameValidator"),
        (raw_g4dn(name="pc_g4dn"), "name", "ClusterNameValidator"),
        (raw_g4dn(name="a" * 34, network=NEW_VPC), "name", "flow logs"),
        (raw_g4dn(tags={"parallelcluster:team": "x"}), "tags", "ParallelCluster reserves"),
        (raw_g4dn(tags={f"t{n}": "x" for n in range(40)}), "tags", "more tags"),
        (
            raw_g4dn(architecture__operating_system="rocky9"),
            "architecture.custom_ami_id",
            "OsCustomAmiValidator",
        ),
        (
            raw_g4dn(
                architecture__deployment={
                    "provider_service_token": TOKEN,
                    "provider_template_url": "https://example.org/provider.yaml",
                }
            ),
            "architecture.deployment.provider_template_url",
            "is given together with",
        ),
    ],
)
def test_a_stack_that_does_not_work_is_refused(raw: dict[str, Any], key: str, says: str):
    found = refusals(raw)
    assert list(found) == [key]
    assert says in found[key].problem


def test_names_and_tags_just_fit():
    assert not refusals(raw_g4dn(name="a" * 60, tags={f"t{n}": "x" for n in range(39)}))
    assert not refusals(raw_g4dn(name="a" * 33, network=NEW_VPC))


def test_a_region_without_parallelcluster_is_refused():
    found = refusals(raw_g4dn(), region="ap-northeast-3")
    assert "RegionValidator" in found["architecture.kind"].problem


def test_blocks_are_not_everywhere():
    raw = block()
    del raw["reservations"]["p4de"]["availability_zone"]
    found = refusals(raw, region="us-iso-east-1")
    assert "reservations.p4de.kind" in found


def test_static_nodes_without_reservation_are_noted():
    """PR-10: the HeadNodeWaitCondition of the seed's troubleshooting section."""
    key = "architecture__queues__compute__compute_resources__g4dn__minimum"
    changes: dict[str, Any] = {key: 2}
    static = raw_g4dn(**changes)
    assert "its 2 static nodes have no reservation" in notes(static)
    assert "static nodes" not in notes(raw_p4de())


def test_the_times_of_a_block_are_noted():
    """The cluster does not wait for the nodes of a block, unlike for other static nodes."""
    found = notes(block(starts_at="2026-12-01T11:30:00Z", ends_at="2026-12-08T11:30:00Z"))
    assert "the Capacity Block starts at 2026-12-01 11:30 UTC; the cluster is created" in found
    assert "ends at 2026-12-08 11:30 UTC" in found
    assert "begins to terminate its nodes 30 minutes earlier" in found
    assert "Capacity Block starts" not in notes(block(starts_at="2026-11-01T11:30:00Z"))


def test_the_nodes_of_an_ultraserver_are_terminated_an_hour_before_its_end():
    raw = block(ends_at="2026-12-08T11:30:00Z")
    resources = raw["architecture"]["queues"]["compute-gpu"]["compute_resources"]
    resources["distributed-ml"]["instance_type"] = "trn2u.48xlarge"
    assert "begins to terminate its nodes 60 minutes earlier" in notes(raw)


LUSTRE = {
    "kind": "fsx-lustre",
    "mount_directory": "/lustre",
    "deployment_type": "SCRATCH_2",
    "storage_capacity_gib": 1200,
}


@pytest.mark.parametrize(("minutes", "noted"), [(17, True), (18, False)])
def test_a_timeout_that_is_shorter_than_usual_is_noted(minutes, noted):
    raw = raw_g4dn(
        architecture__deployment={"timeout_minutes": minutes},
        architecture__queues__compute__availability_zone="us-west-2b",
        storage={"scratch": LUSTRE},
    )
    assert ("timeout_minutes" in notes(raw)) == noted


def test_ten_minutes_are_enough_for_a_cluster_without_a_file_system():
    raw = raw_g4dn(architecture__deployment={"timeout_minutes": 10}, storage={})
    assert "timeout_minutes" not in notes(raw)


@pytest.mark.parametrize(
    ("region", "deployment_type", "listed"),
    [
        ("us-west-2", "SINGLE_AZ_HA_2", ""),
        ("us-west-2", "SINGLE_AZ_HA_1", "SINGLE_AZ_1, SINGLE_AZ_2, SINGLE_AZ_HA_2"),
        ("ap-southeast-3", "SINGLE_AZ_HA_2", "SINGLE_AZ_1, SINGLE_AZ_HA_1"),
        ("ap-southeast-3", "SINGLE_AZ_HA_1", ""),
    ],
)
def test_a_deployment_type_of_openzfs_that_the_region_lacks_is_noted(
    region: str, deployment_type: str, listed: str
) -> None:
    storage = {
        "kind": "fsx-openzfs",
        "mount_directory": "/z",
        "deployment_type": deployment_type,
        "throughput_capacity_mbps": 160 if deployment_type.endswith("2") else 64,
    }
    network = {"kind": "new-vpc", "availability_zones": [f"{region}a"]}
    queue = {"compute_resources": {"cpu": {"instance_type": "m5.8xlarge", "maximum": 1}}}
    raw = {
        "name": "pc",
        "network": network,
        "storage": {"z": storage},
        "architecture": {"kind": "parallelcluster", "queues": {"cpu": queue}},
    }
    found = notes(raw, region=region)
    assert ("storage.z: AWS does not list" in found) == bool(listed)
    assert listed in found


def test_nodes_without_the_ssm_agent_are_told_that_they_send_no_metrics() -> None:
    wanted: dict[str, Any] = {"monitoring": {"node_metrics": "cloudwatch"}}
    red_hat = {**raw_g4dn(), **wanted}
    red_hat["architecture"] = {**red_hat["architecture"], "operating_system": "rhel9"}
    said = "AMIs of rhel9 have no SSM Agent"
    assert said in notes(red_hat)
    assert said not in notes({**red_hat, "monitoring": {}})
    assert "SSM Agent" not in notes({**raw_g4dn(), **wanted})
