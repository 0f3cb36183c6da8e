"""The EKS architecture: its resources, their order, and its outputs."""

from dataclasses import replace

import pulumi
import pytest

from tests.support import eks
from tests.support.eks import (
    CLUSTER_SECURITY_GROUP,
    P5,
    SCHEDULED,
    SYSTEM,
    eks_plan,
)
from tests.support.monitoring import WORKSPACE_ARN
from tests.support.provider_answers import CONTROL_PLANE
from tests.support.stack_files import plan_from
from trainyard.components.architectures.build import build
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.network import NewVpc
from trainyard.components.eks.planner import CLUSTER_NAMES, named_groups
from trainyard.components.eks.resources import EksArchitecture
from trainyard.components.eks.scraper_plan import ScraperPlan
from trainyard.components.network.cluster_network import READ_STACK_OUTPUTS, network_reader
from trainyard.components.network.network_plan import plan_network

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
GROUP = "aws:autoscaling/group:Group"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"


@pytest.fixture
def p5_cb(deploy):
    """Deploy the architecture with a changed plan."""

    def run(*groups, **changes):
        plan = eks_plan(*groups, **changes)

        def program():
            for name, value in EksArchitecture(plan.name, plan).outputs().items():
                pulumi.export(name, value)

        return deploy(program)

    return run


def before(cloud, name):
    """Return the names of a resource's dependencies."""
    urns = cloud.one(name).dependencies
    return {made.name for made in cloud.registered if made.urn in urns}


def entries(cloud):
    return [made for made in cloud.registered if made.type.startswith("pulumi-python:")]


def test_there_is_always_a_system_node_group(p5_cb):
    """EKS-06, DF-13: a place for CoreDNS while no node for jobs exists."""
    cloud = p5_cb()
    assert [made.name for made in cloud.of_type(NODE_GROUP)] == ["p5-cb-system-node-group"]
    assert "p5-cb-system-node-group" in before(cloud, "p5-cb-coredns-addon")


def test_the_control_plane_is_told_the_vpc_of_the_stack_file(p5_cb):
    assert p5_cb().one("p5-cb-eks").inputs["vpcId"] == "vpc-0a1"


def test_the_control_plane_is_told_the_vpc_that_the_stack_makes(p5_cb):
    zones = ("us-west-2a", "us-west-2b")
    network = plan_network(NewVpc(kind="new-vpc", availability_zones=zones), region="us-west-2")
    private = tuple(network.private_names)
    groups = (replace(SYSTEM, subnets=private), replace(P5, subnets=private[1:]))
    cloud = p5_cb(node_groups=groups, network=network)
    assert cloud.one("p5-cb-eks").inputs["vpcId"] == f"{cloud.one('p5-cb-network-vpc').name}-id"


def test_the_control_plane_is_told_the_vpc_of_another_stack(deploy):
    outputs = {
        "vpc_id": "vpc-0a1b2c3d4e5f60718",
        "public_subnet_ids": eks.PUBLIC,
        "private_subnet_ids": eks.PRIVATE,
    }
    raw = eks.changed(network={"kind": "stack-reference", "stack": "vpc-multi-az"})

    def program():
        config = load_stack_config(
            raw, stack_file=eks.STACK_FILE, network_of=network_reader("Pulumi.p5-cb.yaml")
        )
        file, region = eks.STACK_FILE, eks.REGION
        build(plan_stack(config, stack_file=file, region=region, now=eks.NOW))

    cloud = deploy(program, calls={READ_STACK_OUTPUTS: {"outputs": outputs}})
    assert cloud.one("p5-cb-eks").inputs["vpcId"] == "vpc-0a1b2c3d4e5f60718"


def test_nodes_wait_for_network_efa_rules_and_authorization(p5_cb):
    """Pain 6, pain 12: objects that are missing when the first node starts never reach it."""
    cloud = p5_cb()
    waits_for = before(cloud, "p5-cb-p5-nodes")
    assert {
        "p5-cb-eks",
        "p5-cb-efa-ingress-self",
        "p5-cb-efa-egress-self",
        "p5-cb-p5-access",
    } <= waits_for


def test_the_entry_waits_for_the_map_of_the_package(p5_cb):
    """PR-25: the package creates the ConfigMap, and the entry is added to it."""
    assert "p5-cb-eks" in before(p5_cb(), "p5-cb-p5-access")


def test_a_self_managed_role_gets_one_entry_as_a_node(p5_cb):
    """PR-25: the role's ARN, the node's user name, both groups."""
    (entry,) = entries(p5_cb())
    assert entry.name == "p5-cb-p5-access"
    assert entry.inputs["role_arn"] == "arn:aws:iam::123456789012:role/p5-cb-p5-role"
    assert entry.inputs["username"] == "system:node:{{EC2PrivateDNSName}}"
    assert entry.inputs["groups"] == ["system:bootstrappers", "system:nodes"]
    assert "secret" in entry.inputs["kubeconfig"]


def test_an_access_entry_can_stand_for_it(p5_cb):
    """EKN-16."""
    cloud = p5_cb(node_authorization="access-entry")
    assert entries(cloud) == []
    (entry,) = cloud.of_type("aws:eks/accessEntry:AccessEntry")
    assert entry.inputs["principalArn"] == "arn:aws:iam::123456789012:role/p5-cb-p5-role"
    assert entry.name in before(cloud, "p5-cb-p5-nodes")


def test_eks_lets_in_managed_groups_itself(p5_cb):
    """A second entry for the same role is refused."""
    cloud = p5_cb(replace(P5, management="managed"), node_authorization="access-entry")
    assert cloud.of_type("aws:eks/accessEntry:AccessEntry") == []
    assert entries(cloud) == []


def test_every_node_group_has_a_role_of_its_own(p5_cb):
    roles = {role.name for role in p5_cb().of_type("aws:iam/role:Role")}
    assert roles == {"p5-cb-system-role", "p5-cb-p5-role"}


def test_device_plugins_wait_for_nodes_that_are_expected_now(p5_cb):
    cloud = p5_cb()
    for name in ("p5-cb-plugins-nvidia-daemon-set", "p5-cb-plugins-efa-daemon-set"):
        assert "p5-cb-p5-nodes" in before(cloud, name)


def test_a_block_that_has_not_begun_holds_no_device_plugin_up(p5_cb):
    cloud = p5_cb(replace(P5, schedule=SCHEDULED))
    for name in ("p5-cb-plugins-nvidia-daemon-set", "p5-cb-plugins-efa-daemon-set"):
        assert "p5-cb-p5-nodes" not in before(cloud, name)


def test_device_plugins_go_to_the_cluster_of_the_stack(p5_cb):
    cloud = p5_cb()
    provider = cloud.one("p5-cb-kubernetes").urn
    assert all(made.provider.startswith(provider) for made in cloud.of_type(DAEMON_SET))


def test_volumes_are_gone_before_the_driver_that_unmounts_them(deploy):
    existing = {
        "kind": "existing-fsx-lustre",
        "file_system_id": "fs-0123456789abcdef0",
        "dns_name": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
        "mount_name": "abcdefgh",
        "security_group_id": "sg-0123456789abcdef0",
        "storage_capacity_gib": 4800,
    }
    plan = plan_from(eks.changed(storage={"data": existing}))
    cloud = deploy(lambda: build(plan))
    (volume,) = cloud.of_type("kubernetes:core/v1:PersistentVolume")
    assert "p5-cb-services-addons-aws-fsx-csi-driver" in before(cloud, volume.name)


def test_only_planned_device_plugins_are_installed(p5_cb):
    cloud = p5_cb(self_managed_addons={"nvidia": ("p5",)})
    assert [made.name for made in cloud.of_type(DAEMON_SET)] == ["p5-cb-plugins-nvidia-daemon-set"]


def test_without_efa_there_is_no_efa_security_group(p5_cb):
    cloud = p5_cb(replace(P5, interfaces=None), self_managed_addons={"nvidia": ("p5",)})
    assert cloud.of_type("aws:ec2/securityGroup:SecurityGroup") == []


def test_no_security_group_is_tagged_for_a_cluster(p5_cb):
    """Pain 13."""
    tagged = [
        (made.name, key)
        for made in p5_cb().of_type("aws:ec2/securityGroup:SecurityGroup")
        for key in made.inputs["tags"]
        if key.startswith("kubernetes.io/cluster")
    ]
    assert tagged == []


def test_every_resource_that_takes_tags_has_those_of_the_stack(p5_cb):
    untagged = [
        made.name
        for made in p5_cb().registered
        if isinstance(made.inputs.get("tags"), dict) and made.inputs["tags"].get("team") != "vision"
    ]
    assert untagged == []


def test_no_reservation_is_made_or_owned(p5_cb):
    """Users buy reservations; destroying the stack must not change them."""
    types = {made.type for made in p5_cb().registered}
    assert not [t for t in types if "apacityReservation" in t or "apacityBlock" in t]


def test_every_component_is_closed_and_every_child_stays_inside(p5_cb):
    cloud = p5_cb()
    assert {made.urn for made in cloud.components()} <= set(cloud.closed)
    (architecture,) = (made for made in cloud.components() if "Architecture" in made.type)
    outside = [made.name for made in cloud.registered if architecture.urn not in cloud.line(made)]
    assert outside == []


def test_outputs_say_what_a_user_asks_next(p5_cb):
    """EKN-15, PR-24, PR-25: users no longer copy values from a console."""
    exports = p5_cb().exports
    assert exports.keys() == {
        "cluster_name",
        "cluster_endpoint",
        "cluster_version",
        "vpc_id",
        "private_subnet_ids",
        "security_group_ids",
        "kubeconfig",
        "node_groups",
        "aws_auth_role_arns",
        "device_plugins",
        "addons",
        "drained_node_groups",
        "notes",
    }
    assert exports["node_groups"]["p5"] == {
        "instance_type": "p5.48xlarge",
        "management": "self-managed",
        "autoscaling_group": "p5-cb-p5-nodes",
        "desired": 2,
        "role_arn": "arn:aws:iam::123456789012:role/p5-cb-p5-role",
        "devices": {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32},
    }
    assert exports["node_groups"]["system"]["node_group"] == "p5-cb-system-node-group"
    assert exports["aws_auth_role_arns"] == ["arn:aws:iam::123456789012:role/p5-cb-p5-role"]


def test_two_groups_of_one_kind_do_not_collide(p5_cb):
    cloud = p5_cb(P5, replace(P5, name="p5-b"), replace(SYSTEM, name="cpu"))
    assert len({made.urn for made in cloud.registered}) == len(cloud.registered)
    assert [made.name for made in cloud.of_type(GROUP)] == ["p5-cb-p5-b-nodes", "p5-cb-p5-nodes"]


def test_names_are_those_whose_length_the_plan_measures(p5_cb):
    """Pulumi derives names from logical names; one that is too long fails during the update."""
    names = {made.name for made in p5_cb().registered}
    parts = named_groups(eks.config(eks.p5()))
    assert {
        *(each.logical("p5-cb").removesuffix("-eksRole-role") for each in CLUSTER_NAMES),
        *(name.logical("p5-cb", part.name) for part in parts for name in part.derived),
    } <= names


def test_a_collector_reads_the_cluster_through_its_subnets_and_its_security_group(p5_cb):
    scraper = ScraperPlan(
        workspace_arn=WORKSPACE_ARN,
        configuration="scrape_configs: []",
        subnets=("subnet-private-a", "subnet-private-b"),
    )
    made = p5_cb(scraper=scraper).one("p5-cb-scraper", "aws:amp/scraper:Scraper")
    assert made.inputs["destination"] == {"amp": {"workspaceArn": WORKSPACE_ARN}}
    assert made.inputs["source"] == {
        "eks": {
            "clusterArn": CONTROL_PLANE["arn"],
            "securityGroupIds": [CLUSTER_SECURITY_GROUP],
            "subnetIds": ["subnet-private-a", "subnet-private-b"],
        }
    }
    assert made.inputs["scrapeConfiguration"] == "scrape_configs: []"


def test_a_cluster_without_prometheus_has_no_collector(p5_cb):
    assert p5_cb().of_type("aws:amp/scraper:Scraper") == []
