"""The control plane: arguments of the package, and outputs."""

import json
from collections.abc import Callable
from dataclasses import replace

import pulumi
import pytest

from tests.support.cloud import Cloud
from tests.support.eks import eks_plan
from trainyard.components.eks.cluster import (
    EksCluster,
    EksClusterArgs,
    leave_aws_auth_to_its_owners,
)

PLAN = eks_plan()
SUBNETS = [subnet.name for subnet in PLAN.network.subnets]
ARGS = EksClusterArgs(
    cluster_name="p5-cb",
    vpc_id="vpc-0a1b2c3d4e5f60718",
    subnet_ids=SUBNETS,
    kubernetes_version="1.35",
    authentication_mode="API_AND_CONFIG_MAP",
    endpoint_public_access=True,
    endpoint_private_access=True,
    public_access_cidrs=("203.0.113.0/24",),
    log_types=(),
    addon_versions=PLAN.addon_versions,
    tags={"team": "vision"},
)


def cluster(deploy, **changes):
    cloud = deploy(lambda: EksCluster("p5-cb", replace(ARGS, **changes)))
    return cloud, cloud.one("p5-cb-eks")


def test_the_package_makes_neither_nodes_nor_security_groups(deploy):
    """EKX-02: no shared node security group; those of the program and of the cluster suffice."""
    _, made = cluster(deploy)
    assert made.inputs["skipDefaultNodeGroup"] is True
    assert made.inputs["skipDefaultSecurityGroups"] is True
    assert made.inputs["createInstanceRole"] is False


def test_name_version_and_authentication_mode_are_explicit(deploy):
    """EKS-01, EKS-02, EKX-02."""
    _, made = cluster(deploy)
    assert made.inputs["name"] == "p5-cb"
    assert made.inputs["version"] == "1.35"
    assert made.inputs["authenticationMode"] == "API_AND_CONFIG_MAP"


def test_secrets_have_a_key_of_the_users_own_only_where_one_is_given(deploy):
    key = "arn:aws:kms:us-west-2:123456789012:key/1234abcd"
    _, made = cluster(deploy, secrets_key_arn=key)
    assert made.inputs["encryptionConfigKeyArn"] == key
    _, made = cluster(deploy)
    assert "encryptionConfigKeyArn" not in made.inputs


def test_the_control_plane_is_in_the_subnets_of_the_stack_file(deploy):
    """EKS-04."""
    _, made = cluster(deploy)
    assert made.inputs["subnetIds"] == SUBNETS


def test_the_package_is_told_the_vpc_so_that_it_does_not_look_for_a_default_one(deploy):
    _, made = cluster(deploy)
    assert made.inputs["vpcId"] == "vpc-0a1b2c3d4e5f60718"


def test_every_addon_has_a_version(deploy):
    """EKX-02: the package's defaults are the newest versions, which change."""
    _, made = cluster(deploy)
    assert made.inputs["vpcCniOptions"]["addonVersion"] == "v1.21.1-eksbuild.1"
    assert made.inputs["kubeProxyAddonOptions"]["version"] == "v1.35.0-eksbuild.2"


def test_coredns_is_not_installed_before_there_is_a_node(deploy):
    """pulumi/pulumi-eks#1819: the package would wait for nodes that wait for the package."""
    _, made = cluster(deploy)
    assert made.inputs["corednsAddonOptions"]["enabled"] is False


def test_roles_for_service_accounts_can_be_made(deploy):
    """EKS-05, EKX-03, DF-13: an OIDC provider, always."""
    _, made = cluster(deploy)
    assert made.inputs["createOidcProvider"] is True


def test_endpoint_access_is_as_planned(deploy):
    _, made = cluster(deploy)
    assert made.inputs["endpointPublicAccess"] is True
    assert made.inputs["endpointPrivateAccess"] is True
    assert made.inputs["publicAccessCidrs"] == ["203.0.113.0/24"]


def test_a_private_endpoint_names_no_public_networks(deploy):
    """The package refuses the two together."""
    _, made = cluster(deploy, endpoint_public_access=False)
    assert "publicAccessCidrs" not in made.inputs


def test_logs_are_asked_for_by_type(deploy):
    _, made = cluster(deploy, log_types=("api", "audit"))
    assert made.inputs["enabledClusterLogTypes"] == ["api", "audit"]


def test_the_tags_reach_the_package(deploy):
    _, made = cluster(deploy)
    assert made.inputs["tags"] == {"team": "vision"}


def test_a_transform_reaches_the_children_of_the_package(deploy):
    """So that `aws-auth` keeps its entries; see `tests/eks/test_node_access.py`."""
    _, made = cluster(deploy)
    assert made.transforms == (leave_aws_auth_to_its_owners,)


def test_the_kubeconfig_of_the_provider_is_a_secret(deploy):
    cloud, _ = cluster(deploy)
    provider = cloud.one("p5-cb-kubernetes")
    assert provider.type == "pulumi:providers:kubernetes"
    assert "secret" in provider.inputs["kubeconfig"]


def test_nodes_learn_how_to_find_their_cluster(deploy):
    found = {}

    def program():
        access = EksCluster("p5-cb", ARGS).access
        pulumi.Output.all(
            endpoint=access.endpoint,
            authority=access.certificate_authority,
            service_cidr=access.service_cidr,
            group=access.security_group_id,
        ).apply(found.update)

    deploy(program)
    assert found == {
        "endpoint": "https://0123456789.gr7.us-west-2.eks.amazonaws.com",
        "authority": "Q0VSVElGSUNBVEU=",
        "service_cidr": "172.20.0.0/16",
        "group": "sg-0c1u5te2000000000",
    }


def test_the_component_is_closed_and_its_children_stay_inside(deploy):
    cloud, made = cluster(deploy)
    assert made.parent.endswith("trainyard:eks:EksCluster::p5-cb")
    assert made.parent in cloud.closed
    assert cloud.one("p5-cb-kubernetes").parent == made.parent


ROLE = "arn:aws:iam::210987654321:role/deploys-training"


@pytest.mark.parametrize(
    ("config", "given"),
    [
        ({}, None),
        # Without this argument, the package takes the profile by itself: `createCluster`.
        ({"aws:profile": "team"}, None),
        ({"aws:assumeRoles": json.dumps([{"roleArn": ROLE}])}, {"roleArn": ROLE}),
        (
            {"aws:assumeRoles": json.dumps([{"roleArn": ROLE}]), "aws:profile": "team"},
            {"roleArn": ROLE, "profileName": "team"},
        ),
    ],
)
def test_the_kubeconfig_assumes_the_role_that_makes_the_cluster(
    deploy: Callable[..., Cloud], config: dict[str, str], given: dict[str, str] | None
) -> None:
    cloud = deploy(lambda: EksCluster("p5-cb", ARGS), config=config)
    assert cloud.one("p5-cb-eks").inputs.get("providerCredentialOpts") == given
