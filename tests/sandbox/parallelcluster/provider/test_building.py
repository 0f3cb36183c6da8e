"""Clusters in the emulated account: all resources created, changed, and deleted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.sandbox_aws import (
    AWS_ASSISTED,
    NVIDIA_IMAGE,
    PRIVATE_A,
    PRIVATE_B,
    SCHEDULED,
    STANDARD_IMAGE,
    VPC,
    Account,
    target,
)
from trainyard.sandbox.inventory import Clients, account_items, clients_of
from trainyard.sandbox.parallelcluster.provider import clusters, machines, model, storage
from trainyard.sandbox.parallelcluster.provider.clusters import BuildError
from trainyard.sandbox.parallelcluster.provider.model import (
    Cluster,
    ComputeNodes,
    HeadNode,
    SharedStorage,
)
from trainyard.sandbox.parallelcluster.provider.reading import (
    Card,
    compute_interfaces,
    head_interfaces,
)

COMPUTE_RESOURCE = model.COMPUTE_RESOURCE_NAME
TAGS = {model.CLUSTER_NAME: "c", "team": "a"}
P5 = [Card(0, 2), *(Card(index, 1) for index in range(1, 32))]
COMMON: dict[str, Any] = {
    "security_groups": (),
    "additional_security_groups": (),
    "root_volume": {"VolumeType": "gp3", "Encrypted": True},
}


def nodes(count: int = 1, **changes: Any) -> ComputeNodes:
    made = ComputeNodes(
        instance_type="c5.large",
        image_id=STANDARD_IMAGE,
        subnet_id=PRIVATE_B,
        interfaces=head_interfaces([Card(0, 3)]),
        tags={
            **TAGS,
            model.NODE_TYPE: model.COMPUTE,
            model.QUEUE_NAME: "q",
            model.COMPUTE_RESOURCE_NAME: "r",
        },
        queue="q",
        name="r",
        static_count=count,
        launch={},
        placement_group="c-q-r",
        makes_placement_group=True,
        **COMMON,
    )
    return replace(made, **changes)


def p5(reservation: str, group: str | None) -> ComputeNodes:
    return nodes(
        instance_type="p5.48xlarge",
        image_id=NVIDIA_IMAGE,
        interfaces=compute_interfaces(
            P5, efa_enabled=True, efa_on_first_card=True, assign_public_ip=None
        ),
        launch={"CapacityReservationSpecification": target(reservation)},
        placement_group=group,
        makes_placement_group=group is not None,
    )


def cluster(*compute: ComputeNodes, stored: tuple[SharedStorage, ...] = ()) -> Cluster:
    head = HeadNode(
        instance_type="c5.large",
        image_id=STANDARD_IMAGE,
        subnet_id=PRIVATE_A,
        interfaces=head_interfaces([Card(0, 3)]),
        tags={**TAGS, model.NODE_TYPE: model.HEAD_NODE},
        key_name=None,
        allowed_ips="0.0.0.0/0",
        elastic_ip=True,
        **COMMON,
    )
    return Cluster(name="c", vpc_id=VPC, head_node=head, compute=compute, storage=stored, tags=TAGS)


def stored(*, retained: bool = False) -> tuple[SharedStorage, ...]:
    def one(kind: str, settings: dict[str, Any], *subnets: str) -> SharedStorage:
        return SharedStorage(
            kind=kind, name=kind, is_retained=retained, settings=settings, subnet_ids=subnets
        )

    lustre = {"LustreConfiguration": {"DeploymentType": "SCRATCH_2"}}
    return (
        one("fsx", {"FileSystemType": "LUSTRE", "StorageCapacity": 1200, **lustre}, PRIVATE_B),
        one("efs", {"Encrypted": True}, PRIVATE_A, PRIVATE_B),
        one("ebs", {"AvailabilityZone": "us-west-2a", "Size": 10, "VolumeType": "gp3"}),
    )


@pytest.fixture
def clients(account: Account) -> Any:
    return account.client


def everything(account: Account) -> list[str]:
    of_account: Clients = clients_of(account.server.access, "us-west-2")
    return sorted(item.line for item in account_items(of_account))


def test_a_cluster_leaves_the_account_as_it_was(account: Account, clients: Any) -> None:
    before = everything(account)
    clusters.build(clients, cluster(nodes(2), stored=stored()))
    running = account.instances()
    kinds = sorted(
        tag["Value"] for each in running for tag in each["Tags"] if tag["Key"] == model.NODE_TYPE
    )
    assert kinds == ["Compute", "Compute", "HeadNode"]
    head = machines.head_node(clients, "c")
    assert head is not None
    assert head["PublicIpAddress"]
    made = {each.kind for each in storage.storage_of(clients, "c")}
    assert made == {"fsx", "efs", "ebs"}
    clusters.remove(clients, "c", retained=())
    assert everything(account) == before


def test_what_is_retained_stays_with_its_security_group(account: Account, clients: Any) -> None:
    clusters.build(clients, cluster(stored=stored(retained=True)))
    clusters.remove(clients, "c", retained={"fsx", "efs", "ebs"})
    left = list(storage.storage_of(clients, "c"))
    assert {each.kind for each in left} == {"fsx", "efs", "ebs"}
    groups = account.ec2.describe_security_groups(Filters=model.of_cluster("c"))["SecurityGroups"]
    names = {group["GroupName"].rpartition("-")[0] for group in groups}
    assert names == {"c-fsxSecurityGroup", "c-efsSecurityGroup"}
    assert account.instances() == []


def test_a_cluster_of_the_name_comes_up_beside_what_its_predecessor_left(
    account: Account, clients: Any
) -> None:
    names = {"fsx", "efs", "ebs"}
    for _ in range(2):
        clusters.build(clients, cluster(stored=stored(retained=True)))
        clusters.remove(clients, "c", retained=names)
    assert len(list(storage.storage_of(clients, "c"))) == 2 * len(names)


def test_nodes_and_storage_come_and_go(account: Account, clients: Any) -> None:
    other = nodes(1, name="s", tags={**nodes().tags, model.COMPUTE_RESOURCE_NAME: "s"})
    other = replace(other, placement_group="c-q-s")
    first = cluster(nodes(1), stored=stored()[:1])
    clusters.build(clients, first)
    second = cluster(nodes(3), other, stored=stored()[1:])
    clusters.change(clients, first, second)
    assert len(account.instances()) == 5
    assert {each.kind for each in storage.storage_of(clients, "c")} == {"efs", "ebs"}
    clusters.change(clients, second, cluster(nodes(1)))
    assert len(account.instances()) == 2
    groups = account.ec2.describe_placement_groups(Filters=model.of_cluster("c"))
    assert [group["GroupName"] for group in groups["PlacementGroups"]] == ["c-q-r"]


def test_nodes_of_another_kind_take_the_place_of_the_old_ones(
    account: Account, clients: Any
) -> None:
    first = cluster(nodes(1))
    clusters.build(clients, first)
    (old,) = machines.compute_instances(clients, "c", nodes())
    clusters.change(clients, first, cluster(nodes(1, instance_type="c5.xlarge")))
    (new,) = machines.compute_instances(clients, "c", nodes())
    assert new["InstanceType"] == "c5.xlarge"
    assert new["InstanceId"] != old["InstanceId"]


def test_other_compute_resources_of_a_queue_end_with_a_changed_one_and_stay_with_a_removed_one(
    account: Account, clients: Any
) -> None:
    own = {"placement_group": None, "makes_placement_group": False}
    further = nodes(name="r-next", tags={**nodes().tags, COMPUTE_RESOURCE: "r-next"}, **own)

    def stays(before: Cluster, after: Cluster) -> bool:
        old = machines.compute_instances(clients, "c", further)
        clusters.change(clients, before, after)
        return machines.compute_instances(clients, "c", further) == old

    first, both = cluster(further), cluster(nodes(**own), further)
    clusters.build(clients, first)
    assert stays(first, both)
    changed = cluster(nodes(**own, root_volume={"VolumeType": "gp3", "VolumeSize": 100}), further)
    assert not stays(both, changed)
    assert stays(changed, first)


def test_a_placement_group_with_an_aws_assisted_reservation_gets_no_capacity(
    account: Account, clients: Any
) -> None:
    before = everything(account)
    with pytest.raises(BuildError, match=r"StaticNodeBootstrapFailure, RunInstances: Insuffici"):
        clusters.build(clients, cluster(p5(AWS_ASSISTED, "c-q-r")))
    clusters.remove(clients, "c", retained=())
    assert everything(account) == before
    clusters.build(clients, cluster(p5(AWS_ASSISTED, None)))
    (node,) = machines.compute_instances(clients, "c", nodes())
    assert node["CapacityReservationId"] == AWS_ASSISTED
    assert len(node["NetworkInterfaces"]) == 33


def test_a_cluster_is_created_before_its_block_starts(account: Account, clients: Any) -> None:
    """Its nodes launch with the block, from their template."""
    nodes_in_block = p5(SCHEDULED, None)
    market = {"InstanceMarketOptions": {"MarketType": "capacity-block"}}
    launch_options = {**nodes_in_block.launch, **market}
    clusters.build(clients, cluster(replace(nodes_in_block, launch=launch_options)))
    assert len(account.instances()) == 1  # the head node
    (template,) = account.ec2.describe_launch_templates()["LaunchTemplates"][1:]
    assert template["LaunchTemplateName"] == "c-q-r"


def test_nodes_that_never_register_end_the_creation_in_protected_mode(
    account: Account, clients: Any
) -> None:
    """https://docs.aws.amazon.com/parallelcluster/latest/ug/slurm-protected-mode-v3.html"""
    account.server.use_faults("[{happens: node-never-joins, node_group: q}]")
    with pytest.raises(BuildError, match=r"queue q, compute resource r: .*PROTECTED mode.*"):
        clusters.build(clients, cluster(nodes(1)))
    clusters.remove(clients, "c", retained=())
    # Dynamic nodes are not launched at this time, so the cluster is created.
    clusters.build(clients, cluster(nodes(0)))


def linked() -> SharedStorage:
    """Return a file system with two directories that are linked to S3."""
    persistent = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}
    links = [
        {"FileSystemPath": f"/{name}", "DataRepositoryPath": f"s3://bucket/{name}"}
        for name in ("data", "results")
    ]
    lustre = stored()[0]
    return replace(
        lustre,
        settings={**lustre.settings, "LustreConfiguration": persistent},
        associations=tuple(links),
    )


def test_links_to_s3_come_and_go_with_their_file_system(account: Account, clients: Any) -> None:
    before = everything(account)
    clusters.build(clients, cluster(stored=(linked(),)))
    (made,) = storage.storage_of(clients, "c")
    found = clients("fsx").describe_data_repository_associations()["Associations"]
    ours = [each for each in found if each["FileSystemId"] == made.identifier]
    assert [each["FileSystemPath"] for each in ours] == ["/data", "/results"]
    clusters.remove(clients, "c", retained=())
    assert everything(account) == before


def test_a_link_that_fsx_refuses_fails_the_creation(account: Account, clients: Any) -> None:
    lustre = linked()
    twice = replace(lustre, associations=(*lustre.associations, lustre.associations[0]))
    with pytest.raises(BuildError, match=r"overlaps .*CreateDataRepositoryAssociation"):
        clusters.build(clients, cluster(stored=(twice,)))


def test_storage_that_aws_refuses_names_the_failure(account: Account, clients: Any) -> None:
    lustre = stored()[0]
    wrong = replace(lustre, settings={**lustre.settings, "StorageCapacity": 1234})
    with pytest.raises(BuildError, match="ClusterCreationFailure"):
        clusters.build(clients, cluster(stored=(wrong,)))
