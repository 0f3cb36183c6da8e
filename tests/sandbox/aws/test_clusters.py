"""EKS clusters: their attributes, EKS's refusals, and their control planes."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import pytest
from moto.ec2.models import ec2_backends

from tests.support.kubernetes import DEFAULT, PREVIOUS, minor
from tests.support.processes import PATIENCE, until
from tests.support.sandbox_aws import (
    ACCOUNT,
    PRIVATE_A,
    PRIVATE_B,
    VPC,
    Account,
    refused,
)
from trainyard.components.catalog.versions import EKS_VERSIONS
from trainyard.sandbox.aws.eks import clusters


def test_a_cluster_keeps_what_it_was_given(account: Account) -> None:
    cluster = account.cluster(
        version=DEFAULT,
        accessConfig={
            "authenticationMode": "API",
            "bootstrapClusterCreatorAdminPermissions": False,
        },
        upgradePolicy={"supportType": "STANDARD"},
        zonalShiftConfig={"enabled": True},
        deletionProtection=True,
        tags={"team": "training"},
        resourcesVpcConfig={
            "subnetIds": [PRIVATE_A, PRIVATE_B],
            "endpointPrivateAccess": True,
            "publicAccessCidrs": ["198.51.100.0/24"],
        },
    )
    assert cluster["status"] == "ACTIVE"
    assert cluster["version"] == DEFAULT
    assert cluster["accessConfig"] == {
        "authenticationMode": "API",
        "bootstrapClusterCreatorAdminPermissions": False,
    }
    assert cluster["upgradePolicy"] == {"supportType": "STANDARD"}
    assert cluster["zonalShiftConfig"] == {"enabled": True}
    assert cluster["deletionProtection"] is True
    assert cluster["tags"] == {"team": "training"}
    assert cluster["resourcesVpcConfig"]["vpcId"] == VPC
    assert cluster["resourcesVpcConfig"]["publicAccessCidrs"] == ["198.51.100.0/24"]
    assert cluster["identity"]["oidc"]["issuer"].startswith("https://oidc.eks.us-west-2.")
    assert account.eks.list_access_entries(clusterName="c")["accessEntries"] == []


def test_the_cluster_security_group_is_real_and_admits_itself(account: Account) -> None:
    group_id = account.cluster()["resourcesVpcConfig"]["clusterSecurityGroupId"]
    (group,) = account.ec2.describe_security_groups(GroupIds=[group_id])["SecurityGroups"]
    assert group["VpcId"] == VPC
    assert {"Key": "kubernetes.io/cluster/c", "Value": "owned"} in group["Tags"]
    ((own,),) = [each["UserIdGroupPairs"] for each in group["IpPermissions"]]
    assert own["GroupId"] == group_id
    account.eks.delete_cluster(name="c")
    with refused("InvalidGroup.NotFound"):
        account.ec2.describe_security_groups(GroupIds=[group_id])


def in_network(*subnet_ids: str, **settings: Any) -> dict[str, Any]:
    return {"resourcesVpcConfig": {"subnetIds": list(subnet_ids), **settings}}


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ("at least two different AZs", in_network(PRIVATE_B, "subnet-0b000000000000001")),
        ("does not exist", in_network(PRIVATE_A, "subnet-0fffffffffffffff1")),
        ("may not be empty", in_network()),
        ("cannot be false", in_network(PRIVATE_A, PRIVATE_B, endpointPublicAccess=False)),
        ("sg-0fffffffffffffff1",
         in_network(PRIVATE_A, PRIVATE_B, securityGroupIds=["sg-0fffffffffffffff1"])),
        ("unsupported Kubernetes version", {"version": "1.29"}),
        ("unsupported Kubernetes version", {"version": "1.99"}),
    ],
)  # fmt: skip
def test_a_cluster_that_eks_refuses(account: Account, words: str, settings: dict) -> None:
    with refused("InvalidParameterException", words):
        account.cluster(**settings)
    assert account.eks.list_clusters()["clusters"] == []


def test_subnets_of_two_vpcs_are_refused(account: Account) -> None:
    other = account.ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = account.ec2.create_subnet(
        VpcId=other, CidrBlock="10.9.0.0/20", AvailabilityZone="us-west-2a"
    )["Subnet"]["SubnetId"]
    with refused("InvalidParameterException", "same VPC"):
        account.cluster(**in_network(subnet, PRIVATE_B))


def test_a_role_that_does_not_exist_is_refused(account: Account) -> None:
    with refused("InvalidParameterException", "nobody"):
        account.cluster(roleArn=f"arn:aws:iam::{ACCOUNT}:role/nobody")


def test_a_zone_that_eks_does_not_serve_is_refused(account: Account) -> None:
    # EKS-01: use1-az3, whatever its letter in this account
    ec2: Any = ec2_backends[ACCOUNT]["us-east-1"]
    by_zone = {
        subnet.availability_zone_id: subnet.id for subnet in ec2.get_default_subnets().values()
    }
    with pytest.raises(clusters.UnsupportedAvailabilityZoneError) as caught:
        clusters.control_plane_subnets(ec2, "c", [by_zone["use1-az1"], by_zone["use1-az3"]])
    assert "us-east-1e, the targeted availability zone" in caught.value.description
    assert "us-east-1f" in caught.value.description
    assert (
        len(clusters.control_plane_subnets(ec2, "c", [by_zone["use1-az1"], by_zone["use1-az2"]]))
        == 2
    )


def test_a_second_cluster_of_a_name_and_an_unknown_one_are_errors(account: Account) -> None:
    account.cluster()
    with refused("ResourceInUseException", "already exists with name: c"):
        account.eks.create_cluster(
            name="c",
            roleArn=f"arn:aws:iam::{ACCOUNT}:role/c-cluster",
            **in_network(PRIVATE_A, PRIVATE_B),
        )
    with refused("ResourceNotFoundException", "none"):
        account.eks.describe_cluster(name="none")


def test_a_protected_cluster_stays(account: Account) -> None:
    account.cluster(deletionProtection=True)
    with refused("InvalidRequestException", "deletion protection"):
        account.eks.delete_cluster(name="c")
    account.eks.update_cluster_config(name="c", deletionProtection=False)
    account.eks.delete_cluster(name="c")
    assert account.eks.list_clusters()["clusters"] == []


def test_an_update_can_be_looked_at(account: Account) -> None:
    account.cluster()
    update = account.eks.update_cluster_config(
        name="c",
        resourcesVpcConfig={"endpointPublicAccess": False, "endpointPrivateAccess": True},
    )["update"]
    assert update["type"] == "EndpointAccessUpdate"
    seen = account.eks.describe_update(name="c", updateId=update["id"])["update"]
    assert seen["status"] == "Successful"
    assert account.eks.list_updates(name="c")["updateIds"] == [update["id"]]
    network_after = account.eks.describe_cluster(name="c")["cluster"]["resourcesVpcConfig"]
    assert network_after["endpointPublicAccess"] is False


def test_authentication_modes_go_one_way(account: Account) -> None:
    account.cluster(accessConfig={"authenticationMode": "CONFIG_MAP"})
    for mode in ("API_AND_CONFIG_MAP", "API"):
        account.eks.update_cluster_config(name="c", accessConfig={"authenticationMode": mode})
    with refused("InvalidParameterException", "from API to API_AND_CONFIG_MAP"):
        account.eks.update_cluster_config(
            name="c", accessConfig={"authenticationMode": "API_AND_CONFIG_MAP"}
        )


def test_versions_go_up_one_by_one(account: Account) -> None:
    account.cluster(version=minor(-2))
    with refused("InvalidParameterException", f"from {minor(-2)} to {DEFAULT}"):
        account.eks.update_cluster_version(name="c", version=DEFAULT)
    account.eks.update_cluster_version(name="c", version=PREVIOUS)
    assert account.eks.describe_cluster(name="c")["cluster"]["version"] == PREVIOUS


def test_the_pinned_versions_are_offered(account: Account) -> None:
    versions = account.eks.describe_cluster_versions()["clusterVersions"]
    assert set(EKS_VERSIONS) <= {each["clusterVersion"] for each in versions}
    for version, pins in EKS_VERSIONS.items():
        addons = account.eks.describe_addon_versions(kubernetesVersion=version)["addons"]
        offered = {
            each["addonName"]: version["addonVersion"]
            for each in addons
            for version in each["addonVersions"]
            if version["compatibilities"][0]["defaultVersion"]
        }
        assert offered["vpc-cni"] == pins.vpc_cni
        assert offered["coredns"] == pins.coredns
        assert offered["kube-proxy"] == pins.kube_proxy


def test_addons_come_change_and_go(account: Account) -> None:
    account.cluster()
    version = EKS_VERSIONS[DEFAULT].vpc_cni
    account.eks.create_addon(clusterName="c", addonName="vpc-cni", addonVersion=version)
    with refused("ResourceInUseException"):
        account.eks.create_addon(clusterName="c", addonName="vpc-cni")
    with refused("InvalidParameterException", "v0.0.1"):
        account.eks.update_addon(clusterName="c", addonName="vpc-cni", addonVersion="v0.0.1")
    update = account.eks.update_addon(
        clusterName="c", addonName="vpc-cni", configurationValues='{"env": {}}'
    )["update"]
    assert account.eks.list_updates(name="c", addonName="vpc-cni")["updateIds"] == [update["id"]]
    addon = account.eks.describe_addon(clusterName="c", addonName="vpc-cni")["addon"]
    assert (addon["addonVersion"], addon["configurationValues"]) == (version, '{"env": {}}')
    account.eks.delete_addon(clusterName="c", addonName="vpc-cni")
    assert account.eks.list_addons(clusterName="c")["addons"] == []
    with refused("InvalidParameterException", "cuda"):
        account.eks.create_addon(clusterName="c", addonName="cuda")


@dataclass
class ControlPlaneDouble:
    endpoint: str = "https://127.0.0.1:6443"
    certificate_authority_data: str = "UEVN"


@dataclass
class ControlPlanesDouble:
    """Starts control planes when the test permits it."""

    go: threading.Event = field(default_factory=threading.Event)
    names: list[str] = field(default_factory=list)
    error: Exception | None = None

    def create(self, name: str, version: str) -> ControlPlaneDouble:
        self.go.wait(PATIENCE)
        if self.error is not None:
            raise self.error
        self.names.append(f"{name} {version}")
        return ControlPlaneDouble()

    def delete(self, name: str) -> None:
        self.go.wait(PATIENCE)
        self.names.remove(f"{name} {DEFAULT}")


def status(account: Account) -> str:
    return account.eks.describe_cluster(name="c")["cluster"]["status"]


def test_a_cluster_is_creating_until_its_control_plane_is_there(account: Account) -> None:
    control_planes = ControlPlanesDouble()
    account.server.use_control_planes(control_planes)
    cluster = account.cluster(version=DEFAULT)
    assert cluster["status"] == "CREATING"
    assert "endpoint" not in cluster
    with refused("InvalidRequestException", "not in ACTIVE status"):
        account.eks.create_addon(clusterName="c", addonName="vpc-cni")
    control_planes.go.set()
    until(lambda: status(account) == "ACTIVE", "the cluster to be ACTIVE")
    cluster = account.eks.describe_cluster(name="c")["cluster"]
    assert cluster["endpoint"] == "https://127.0.0.1:6443"
    assert cluster["certificateAuthority"]["data"] == "UEVN"
    control_planes.go.clear()
    account.eks.delete_cluster(name="c")
    assert status(account) == "DELETING"
    control_planes.go.set()
    until(lambda: account.eks.list_clusters()["clusters"] == [], "the cluster to be gone")
    assert control_planes.names == []


def test_a_cluster_that_is_deleted_while_it_is_made_leaves_nothing(account: Account) -> None:
    control_planes = ControlPlanesDouble()
    account.server.use_control_planes(control_planes)
    account.cluster(version=DEFAULT)
    account.eks.delete_cluster(name="c")
    control_planes.go.set()
    until(lambda: account.eks.list_clusters()["clusters"] == [], "the cluster to be gone")
    assert control_planes.names == []


def test_a_control_plane_that_does_not_start_is_told(account: Account) -> None:
    control_planes = ControlPlanesDouble(error=RuntimeError("etcd ended"))
    control_planes.go.set()
    account.server.use_control_planes(control_planes)
    account.cluster()
    until(lambda: status(account) == "FAILED", "the cluster to be FAILED")
    health = account.eks.describe_cluster(name="c")["cluster"]["health"]
    assert health["issues"][0]["message"] == "etcd ended"


def test_a_version_that_the_control_planes_cannot_run_is_refused(account: Account) -> None:
    def check(name: str, version: str) -> None:
        if version != DEFAULT:
            raise ValueError(f"the sandbox runs {DEFAULT} only, but {name} asks for {version}")

    account.server.use_control_planes(ControlPlanesDouble(), check)
    with refused("InvalidParameterException", f"c asks for {PREVIOUS}"):
        account.cluster(version=PREVIOUS)


def test_a_cluster_that_is_created_has_no_endpoint_certificate_or_issuer(account: Account) -> None:
    """aws/aws-cli, awscli/examples/eks/create-cluster.rst at 07c4fe36."""
    account.role("creating")
    made = account.eks.create_cluster(
        name="creating",
        roleArn="arn:aws:iam::123456789012:role/creating",
        resourcesVpcConfig={"subnetIds": [PRIVATE_A, PRIVATE_B]},
    )["cluster"]
    assert (made["status"], made["certificateAuthority"]) == ("CREATING", {})
    assert not made.keys() & {"endpoint", "identity"}
