"""The keys of the eksctl manifests, row by row: EKS-01 to EKS-16."""

from __future__ import annotations

from datetime import timedelta

from tests.support.parity import better, same
from tests.support.stacks import NOW, stack_plan
from trainyard.components.catalog.versions import STANDARD_SUPPORT_ENDS, standard_support_ended

ALWAYS = {
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonSSMManagedInstanceCore",
}


@better(
    "EKS-01",
    "`metadata.name`; two manifests share `eks-p5-odcr-vpc`",
    why="every cluster has the name of its stack, so that all of them fit into one account",
)
def test_every_cluster_has_the_name_of_its_stack(reference):
    assert {made.cluster["name"] for made in reference.values()} == set(reference)


@better(
    "EKS-02",
    "Kubernetes 1.28 and 1.29",
    why="EKS no longer supports those; this one has months of standard support left",
)
def test_kubernetes_is_a_version_in_standard_support(reference):
    for made in reference.values():
        version = made.cluster["version"]
        assert not standard_support_ended(version, (NOW + timedelta(days=90)).date())
        assert version > max("1.28", "1.29")
        assert STANDARD_SUPPORT_ENDS["1.29"] < NOW.date()


@better(
    "EKS-03",
    "`region` is a placeholder in every file",
    why="the region is a value that works, and zones outside of it are refused",
)
def test_the_region_is_a_value_and_zones_lie_in_it(reference):
    for made in reference.values():
        assert made.plan.region == made.config["aws:region"] == "us-west-2"
        named = [subnet.availability_zone for subnet in made.plan.network.subnets]
        assert all(zone is None or zone.startswith("us-west-2") for zone in named)


@same("EKS-04", "A new VPC in two zones, or an existing one with two public and private subnets")
def test_the_vpc_is_new_or_existing_as_in_the_manifest(reference):
    kinds = {name: made.plan.network.is_new for name, made in reference.items()}
    assert kinds == {
        "eks-g4dn": True,
        "eks-g4dn-vpc": False,
        "eks-p4de-odcr": True,
        "eks-p4de-odcr-vpc": False,
        "eks-p5-odcr": False,
        "p5-cb": False,
    }
    for made in reference.values():
        network = made.plan.network
        assert (len(network.public_subnets), len(network.private_subnets)) == (2, 2)
        assert len(made.cluster["subnetIds"]) == 4


@better(
    "EKS-05",
    "`iam.withOIDC`, which the p5 ODCR manifest forgets",
    why="every cluster has its OIDC provider, so that pods can have roles in all of them",
)
def test_every_cluster_has_an_oidc_provider(reference):
    assert {made.cluster["createOidcProvider"] for made in reference.values()} == {True}


@better(
    "EKS-06",
    "Managed node group `sys`: c5.2xlarge, one node, autoscaler and CloudWatch; absent for p5",
    why=(
        "the p5 clusters have it too: without it CoreDNS has no node when no p5 is wanted; the "
        "CloudWatch agent has a role of its own (EKS-15)"
    ),
)
def test_every_cluster_has_a_system_node_group(reference):
    for name, made in reference.items():
        system = made.system
        assert (system.management, system.instance_type.name) == ("managed", "c5.2xlarge")
        assert made.managed(system)["scalingConfig"]["desiredSize"] == 1
        managed, inline = made.role_policies(system)
        assert managed == ALWAYS
        # The nodes of a Capacity Block come and go with it: no autoscaler has anything to do.
        assert inline == (set() if name == "p5-cb" else {"autoscaler"})


@better(
    "EKS-07",
    "Name of the GPU node group; `p5-ocdr` is a typing error",
    why="the names are the same but for the corrected one",
)
def test_node_groups_are_named_as_in_the_manifest(reference):
    assert {name: made.group.name for name, made in reference.items()} == {
        "eks-g4dn": "g4dn",
        "eks-g4dn-vpc": "g4dn",
        "eks-p4de-odcr": "p4de-odcr",
        "eks-p4de-odcr-vpc": "p4de-odcr-vpc",
        "eks-p5-odcr": "p5-odcr",
        "p5-cb": "p5",
    }


@same("EKS-08", "g4dn.8xlarge, p4de.24xlarge, p5.48xlarge, in managed node groups")
def test_instance_types_are_those_of_the_manifest(eksctl):
    assert {name: made.template(made.group)["instanceType"] for name, made in eksctl.items()} == {
        "eks-g4dn": "g4dn.8xlarge",
        "eks-g4dn-vpc": "g4dn.8xlarge",
        "eks-p4de-odcr": "p4de.24xlarge",
        "eks-p4de-odcr-vpc": "p4de.24xlarge",
        "eks-p5-odcr": "p5.48xlarge",
    }
    assert {made.group.management for made in eksctl.values()} == {"managed"}


@better(
    "EKS-09",
    "`instancePrefix`, the beginning of the nodes' `Name`",
    why="the name begins with the cluster, and volumes and interfaces carry it too",
)
def test_nodes_volumes_and_interfaces_are_named_for_cluster_and_group(reference):
    for name, made in reference.items():
        tagged = made.template(made.group)["tagSpecifications"]
        assert {each["resourceType"]: each["tags"]["Name"] for each in tagged} == dict.fromkeys(
            ("instance", "volume", "network-interface"), f"{name}-{made.group.name}-Node"
        )


@same("EKS-10", "Minimum, desired, maximum: 0/2/10, for p5 0/1/10")
def test_sizes_are_those_of_the_manifest(eksctl):
    sizes = {name: made.managed(made.group)["scalingConfig"] for name, made in eksctl.items()}
    two = {"minSize": 0, "desiredSize": 2, "maxSize": 10}
    assert sizes == {
        "eks-g4dn": two,
        "eks-g4dn-vpc": two,
        "eks-p4de-odcr": two,
        "eks-p4de-odcr-vpc": two,
        "eks-p5-odcr": two | {"desiredSize": 1},
    }


@same("EKS-11", "`privateNetworking` and `efaEnabled`")
def test_nodes_are_private_and_use_every_efa_interface(reference):
    for made in reference.values():
        assert set(made.group.subnets) <= set(made.plan.network.private_names)
        interfaces = made.template(made.group)["networkInterfaces"]
        efa = [each for each in interfaces if each["interfaceType"] == "efa-only"]
        assert len(efa) == made.group.instance_type.efa_interfaces
        assert not [each for each in interfaces if each.get("associatePublicIpAddress")]


@same("EKS-12", "`volumeSize: 500`")
def test_root_volumes_have_500_gib(reference):
    for made in reference.values():
        (volume,) = made.template(made.group)["blockDeviceMappings"]
        assert volume["ebs"]["volumeSize"] == 500


@better(
    "EKS-13",
    "The node group is pinned to the zone of the capacity; the p5 ODCR manifest forgets it",
    why="the zone follows from the reservation, in every stack, and is compared with the account",
)
def test_every_node_group_launches_in_the_one_subnet_of_its_capacity(reference):
    for made in reference.values():
        assert made.zone_of(made.group) == "us-west-2b"


@better(
    "EKS-14",
    "`capacityReservationID` of the ODCR stacks",
    why="the reservation is targeted, and nothing launches outside of it at the on-demand price",
)
def test_nodes_launch_in_the_reservation_and_nowhere_else(eksctl):
    targets = {
        name: made.template(made.group).get("capacityReservationSpecification")
        for name, made in eksctl.items()
    }
    p4de, p5 = "cr-00d00000000000001", "cr-00d00000000000002"
    assert targets == {
        "eks-g4dn": None,
        "eks-g4dn-vpc": None,
        "eks-p4de-odcr": _only(p4de),
        "eks-p4de-odcr-vpc": _only(p4de),
        "eks-p5-odcr": _only(p5),
    }


def _only(reservation_id: str) -> dict[str, object]:
    return {
        "capacityReservationPreference": "capacity-reservations-only",
        "capacityReservationTarget": {"capacityReservationId": reservation_id},
    }


@better(
    "EKS-15",
    "Add-on policies autoScaler, cloudWatch, ebs and fsx of the GPU node groups, for every pod",
    why=(
        "each add-on has a role of its own, through Pod Identity, and no other pod has its "
        "permissions; the Cluster Autoscaler, which is no add-on of a stack, has its permission on "
        "the system nodes, where it runs"
    ),
)
def test_no_pod_but_those_of_an_addon_has_the_permissions_of_the_addon(eksctl):
    drivers = {"ebs_csi_driver": True, "fsx_csi_driver": True, "cloudwatch_observability": True}
    for name, made in eksctl.items():
        assert made.role_policies(made.group) == (ALWAYS, set())
        addons = stack_plan(name, architecture__addons=drivers).addons
        roles = {each.name: each.identity for each in addons if each.identity}
        assert {addon: role.policy for addon, role in roles.items()} == {
            "aws-ebs-csi-driver": "AmazonEBSCSIDriverPolicyV2",
            "aws-fsx-csi-driver": "AmazonFSxFullAccess",
            "amazon-cloudwatch-observability": "CloudWatchAgentServerPolicy",
        }
        assert {role.through for role in roles.values()} == {"pod-identity"}


@same("EKS-16", "No taints, labels, SSH keys or spot in any manifest")
def test_no_stack_has_taints_labels_keys_or_spot(reference):
    for made in reference.values():
        for group in made.plan.node_groups:
            assert (group.taints, group.labels, group.ssh_key_name) == ((), {}, None)
            assert group.capacity.kind != "spot"
