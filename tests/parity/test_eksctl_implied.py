"""Implicit resources of eksctl for the keys of its manifests, row by row: EKX-01 to EKX-10."""

from __future__ import annotations

import re
from ipaddress import IPv4Network

from tests.support.eks import CLUSTER_SECURITY_GROUP
from tests.support.parity import better, not_applicable, same

NOT_APPLICABLE = [
    not_applicable(
        "EKX-03",
        "With OIDC the policy of the VPC CNI goes to a role of its pods, not to the nodes",
        why=(
            "the provider is there (EKS-05), and the policy stays on the nodes, where pods do not "
            "reach it (EKX-04): pulumi-eks creates the provider together with the VPC CNI, so that "
            "no role that trusts the provider exists before it"
        ),
    )
]


@same(
    "EKX-01",
    "New VPC: 192.168.0.0/16, a public and a private /19 in each zone, one NAT gateway, an "
    "internet gateway, tags for load balancers",
)
def test_a_new_vpc_has_the_addresses_gateways_and_tags_of_eksctl(reference):
    for name in ("eks-g4dn", "eks-p4de-odcr"):
        cloud = reference[name].cloud
        (vpc,) = cloud.of_type("aws:ec2/vpc:Vpc")
        assert vpc.inputs["cidrBlock"] == "192.168.0.0/16"
        subnets = [made.inputs for made in cloud.of_type("aws:ec2/subnet:Subnet")]
        found = {(s["cidrBlock"], s["availabilityZone"], *_balancers(s["tags"])) for s in subnets}
        assert found == {
            ("192.168.0.0/19", "us-west-2a", "elb"),
            ("192.168.32.0/19", "us-west-2b", "elb"),
            ("192.168.64.0/19", "us-west-2a", "internal-elb"),
            ("192.168.96.0/19", "us-west-2b", "internal-elb"),
        }
        assert len(cloud.of_type("aws:ec2/internetGateway:InternetGateway")) == 1
        assert len(cloud.of_type("aws:ec2/natGateway:NatGateway")) == 1
        assert {IPv4Network(s["cidrBlock"]).prefixlen for s in subnets} == {19}


def _balancers(tags: dict[str, str]) -> list[str]:
    return [key.removeprefix("kubernetes.io/role/") for key in tags if key.endswith("elb")]


@better(
    "EKX-02",
    "Control plane: public endpoint, no private one, `API_AND_CONFIG_MAP`, VPC CNI, kube-proxy "
    "and CoreDNS",
    why="the private endpoint is on too, so that nodes do not reach it through the NAT gateway",
)
def test_the_control_plane_has_both_endpoints_and_the_three_addons(reference):
    for made in reference.values():
        cluster = made.cluster
        assert cluster["endpointPublicAccess"] is True
        assert cluster["endpointPrivateAccess"] is True
        assert cluster["authenticationMode"] == "API_AND_CONFIG_MAP"
        assert re.match(r"v1\.\d+", cluster["vpcCniOptions"]["addonVersion"])
        assert re.match(r"v1\.\d+", cluster["kubeProxyAddonOptions"]["version"])
        addons = [addon.inputs["addonName"] for addon in made.cloud.of_type("aws:eks/addon:Addon")]
        assert "coredns" in addons


@better(
    "EKX-04",
    "AL2 node groups with templates: gp3, 3000 operations and 125 MiB/s, /dev/xvda, IMDSv2 "
    "with two hops",
    why=(
        "AL2023 in its place, for which there are images; every volume is encrypted; one hop, so "
        "that pods do not get the credentials of their node, except on system nodes with the "
        "permission of the Cluster Autoscaler"
    ),
)
def test_templates_have_the_volume_and_the_metadata_service_of_eksctl(reference):
    for made in reference.values():
        for group in made.plan.node_groups:
            template = made.template(group)
            (volume,) = template["blockDeviceMappings"]
            assert volume["deviceName"] == "/dev/xvda"
            disk = volume["ebs"]
            assert (disk["volumeType"], disk["iops"], disk["throughput"]) == ("gp3", 3000, 125)
            assert disk["encrypted"] == "true"
            assert template["metadataOptions"] == {
                "httpEndpoint": "enabled",
                "httpPutResponseHopLimit": 2 if group.addon_policies else 1,
                "httpTokens": "required",
            }
            assert group.ami_type.startswith("AL2023_x86_64_")
        assert made.template(made.group)["metadataOptions"]["httpPutResponseHopLimit"] == 1


@better(
    "EKX-05",
    "EFA: a security group that trusts itself, tagged for the cluster; every card an `efa` "
    "interface; one subnet; an installer at boot",
    why=(
        "no tag that breaks load balancers; `efa-only` interfaces, so that a node takes one "
        "address; the subnet of the capacity and not the first of the list; the image's own EFA"
    ),
)
def test_efa_has_its_group_its_interfaces_and_one_subnet(reference):
    for name, made in reference.items():
        group_id = f"{name}-efa-group-id"
        (efa_group,) = made.cloud.of_type("aws:ec2/securityGroup:SecurityGroup")
        assert not [key for key in efa_group.inputs["tags"] if "kubernetes.io" in key]
        for kind in ("Ingress", "Egress"):
            rules = made.cloud.of_type(f"aws:vpc/securityGroup{kind}Rule:SecurityGroup{kind}Rule")
            itself = [r.inputs for r in rules if r.inputs.get("referencedSecurityGroupId")]
            assert [(r["referencedSecurityGroupId"], r["ipProtocol"]) for r in itself] == [
                (group_id, "-1")
            ]
        interfaces = made.template(made.group)["networkInterfaces"]
        addressed = [each for each in interfaces if each["interfaceType"] != "efa-only"]
        assert [each["interfaceType"] for each in addressed] == ["interface"]
        assert addressed[0]["securityGroups"] == [CLUSTER_SECURITY_GROUP, group_id]
        assert not [each for each in interfaces if "subnetId" in each]
        assert len(made.group.subnets) == 1
        assert "efa_installer" not in made.user_data(made.group)


@better(
    "EKX-06",
    "EFA: a cluster placement group, always, even beside a reservation",
    why=(
        "on-demand nodes get one; nodes of a reservation get the one it was made in, or none; a "
        "Capacity Block takes none: a second group is InsufficientInstanceCapacity"
    ),
)
def test_the_placement_group_follows_from_the_capacity(reference):
    placed = {
        name: made.template(made.group).get("placement", {}).get("groupName")
        for name, made in reference.items()
    }
    assert placed == {
        "eks-g4dn": "eks-g4dn-g4dn-placement-group",
        "eks-g4dn-vpc": "eks-g4dn-vpc-g4dn-placement-group",
        "eks-p4de-odcr": "p4de-reserved",
        "eks-p4de-odcr-vpc": "p4de-reserved",
        "eks-p5-odcr": None,
        "p5-cb": None,
    }


@better(
    "EKX-07",
    "Node role: worker node, registry read-only and SSM policies; CloudWatchAgentServerPolicy; "
    "autoScaler, ebs and fsx as inline statements on everything",
    why=(
        "nodes only pull from the registry, and no role of theirs has a permission of an add-on "
        "(EKS-15); the autoscaler, on the system nodes, changes the groups of its own cluster only"
    ),
)
def test_node_roles_allow_what_nodes_need_and_no_more(eksctl):
    for name, made in eksctl.items():
        managed, inline = made.role_policies(made.group)
        assert {"AmazonEKSWorkerNodePolicy", "AmazonSSMManagedInstanceCore"} <= managed
        assert "AmazonEC2ContainerRegistryReadOnly" not in managed
        assert inline == set()
        document = made.cloud.one(f"{name}-system-autoscaler").inputs["policy"]
        assert f"k8s.io/cluster-autoscaler/{name}" in document


@better(
    "EKX-08",
    "Device plugins: NVIDIA v0.9.0, EFA v0.3.3, replaced by hand with newer ones",
    why="pinned and newer, and on nodes of these types only; the manifests need no second step",
)
def test_both_device_plugins_are_installed_at_pinned_versions(reference):
    for made in reference.values():
        images = _images(made.cloud)
        assert _numbers(images["k8s-device-plugin"]) > (0, 15, 0)
        assert _numbers(images["aws-efa-k8s-device-plugin"]) > (0, 5, 0)


@better(
    "EKX-09",
    "`sys` has no `privateNetworking`: public subnets, public addresses",
    why="system nodes run in private subnets, in every zone",
)
def test_system_nodes_are_private_in_every_zone(reference):
    for made in reference.values():
        assert made.system.subnets == made.plan.network.private_names
        assert "networkInterfaces" not in made.template(made.system)


@better(
    "EKX-10",
    "eksctl of August 2026: Kubernetes 1.34, NVIDIA v0.19.3, EFA v0.5.4, Neuron 2.23.30.0, no "
    "EFA security group for managed groups",
    why=(
        "each is at least as new; the security group stays, because its rule to itself holds "
        "whatever becomes of the cluster's own group"
    ),
)
def test_versions_are_at_least_those_of_todays_eksctl(reference, stack):
    for made in reference.values():
        images = _images(made.cloud)
        assert _numbers(made.plan.kubernetes_version) >= (1, 34)
        assert _numbers(images["k8s-device-plugin"]) >= (0, 19, 3)
        assert _numbers(images["aws-efa-k8s-device-plugin"]) >= (0, 5, 4)
    assert _numbers(_images(stack("eks-trn1").cloud)["neuron-device-plugin"]) >= (2, 23, 30, 0)


def _images(cloud) -> dict[str, str]:
    """Return the tags of the images of all DaemonSets, by image name."""
    containers = [
        container
        for made in cloud.of_type("kubernetes:apps/v1:DaemonSet")
        for container in made.inputs["spec"]["template"]["spec"]["containers"]
    ]
    named = [container["image"].partition("@")[0].rpartition(":") for container in containers]
    return {image.rpartition("/")[2]: tag for image, _, tag in named}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.removeprefix("v").split("-")[0].split("."))
