"""Version updates of a cluster, its nodes and its add-ons, and the key of its secrets."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest

from tests.support.kubernetes import DEFAULT, PREVIOUS
from tests.support.processes import PATIENCE, until
from tests.support.sandbox_aws import PRIVATE_A, Account, refused
from trainyard.components.catalog.versions import EKS_VERSIONS

OTHERS = "arn:aws:kms:us-west-2:123456789012:key/00000000-0000-0000-0000-000000000000"


@dataclass
class ControlPlanesDouble:
    """Starts control planes at once, and upgrades them when the test permits it."""

    go: threading.Event = field(default_factory=threading.Event)
    upgraded: list[tuple[str, str]] = field(default_factory=list)
    error: Exception | None = None
    endpoint: str = "https://127.0.0.1:6443"
    certificate_authority_data: str = "UEVN"

    def create(self, name: str, version: str) -> ControlPlanesDouble:
        return self

    def upgrade(self, name: str, version: str) -> None:
        self.go.wait(PATIENCE)
        if self.error is not None:
            raise self.error
        self.upgraded.append((name, version))

    def delete(self, name: str) -> None:
        """Do nothing."""


def described(account: Account) -> tuple[str, str]:
    cluster = account.eks.describe_cluster(name="c")["cluster"]
    return cluster["status"], cluster["version"]


@pytest.fixture
def control_planes(account: Account) -> ControlPlanesDouble:
    double = ControlPlanesDouble()
    account.server.use_control_planes(double)
    account.cluster(version=PREVIOUS)
    until(lambda: described(account) == ("ACTIVE", PREVIOUS), "the cluster to be ACTIVE")
    return double


def upgrade(account: Account) -> str:
    return account.eks.update_cluster_version(name="c", version=DEFAULT)["update"]["id"]


def test_a_cluster_is_updating_until_its_control_plane_serves_the_version(account, control_planes):
    update = upgrade(account)
    assert described(account) == ("UPDATING", PREVIOUS)
    with refused("InvalidRequestException", "not in ACTIVE status"):
        upgrade(account)
    control_planes.go.set()
    until(lambda: described(account) == ("ACTIVE", DEFAULT), "the cluster to be upgraded")
    told = account.eks.describe_update(name="c", updateId=update)["update"]
    assert (told["status"], told["type"]) == ("Successful", "VersionUpdate")
    assert control_planes.upgraded == [("c", DEFAULT)]


def test_an_update_that_fails_leaves_the_version_and_says_why(account, control_planes):
    control_planes.error = RuntimeError("kube-apiserver ended")
    control_planes.go.set()
    update = upgrade(account)
    until(lambda: described(account)[0] == "ACTIVE", "the cluster to be ACTIVE again")
    assert described(account) == ("ACTIVE", PREVIOUS)
    told = account.eks.describe_update(name="c", updateId=update)["update"]
    assert told["status"] == "Failed"
    assert told["errors"][0]["errorMessage"] == "kube-apiserver ended"


def node_group(account: Account, **settings: str) -> None:
    account.eks.create_nodegroup(
        clusterName="c",
        nodegroupName="n",
        nodeRole=account.role("node"),
        subnets=[PRIVATE_A],
        **settings,
    )


def test_nodes_follow_their_cluster_and_are_never_ahead_of_it(account: Account):
    """EKX-10: nodes of the version's release replace the old ones."""
    account.cluster(version=PREVIOUS)
    node_group(account)
    (old,) = account.instances()
    with refused("InvalidParameterException", "newer than the version of the cluster"):
        account.eks.update_nodegroup_version(clusterName="c", nodegroupName="n", version=DEFAULT)
    upgrade(account)
    account.eks.update_nodegroup_version(clusterName="c", nodegroupName="n")
    group = account.eks.describe_nodegroup(clusterName="c", nodegroupName="n")["nodegroup"]
    assert group["version"] == DEFAULT
    assert group["releaseVersion"] == EKS_VERSIONS[DEFAULT].ami_release_version
    (new,) = account.instances()
    assert new["InstanceId"] != old["InstanceId"]
    image = account.ec2.describe_images(ImageIds=[new["ImageId"]])["Images"][0]
    assert f"(k8s: {DEFAULT}." in image["Description"]


def test_nodes_more_than_three_versions_behind_hold_the_cluster_back(account: Account, monkeypatch):
    account.cluster(version=PREVIOUS)
    node_group(account)
    monkeypatch.setattr("trainyard.sandbox.aws.eks.clusters.KUBELET_SKEW", 0)
    with refused("InvalidRequestException", f"Nodegroup n has the Kubernetes version {PREVIOUS}"):
        upgrade(account)


def test_addons_move_among_the_versions_that_fit_the_cluster(account: Account):
    account.cluster(version=PREVIOUS)
    old, new = EKS_VERSIONS[PREVIOUS].kube_proxy, EKS_VERSIONS[DEFAULT].kube_proxy
    account.eks.create_addon(clusterName="c", addonName="kube-proxy")
    addon = account.eks.describe_addon(clusterName="c", addonName="kube-proxy")["addon"]
    assert addon["addonVersion"] == old
    with refused("InvalidParameterException", new):
        account.eks.update_addon(clusterName="c", addonName="kube-proxy", addonVersion=new)
    upgrade(account)
    account.eks.update_addon(clusterName="c", addonName="kube-proxy", addonVersion=new)
    (found,) = account.eks.describe_addon_versions(
        kubernetesVersion=PREVIOUS, addonName="kube-proxy"
    )["addons"]
    assert found["addonVersions"][0]["addonVersion"] == old
    defaults = [
        each["addonVersion"]
        for each in found["addonVersions"]
        if each["compatibilities"][0]["defaultVersion"]
    ]
    assert defaults == [old]


def encryption(key: str) -> list[dict[str, object]]:
    return [{"resources": ["secrets"], "provider": {"keyArn": key}}]


def test_a_key_is_added_once(account: Account):
    key = account.client("kms").create_key()["KeyMetadata"]["Arn"]
    account.cluster()
    with refused("InvalidParameterException", "does not exist"):
        account.eks.associate_encryption_config(
            clusterName="c", encryptionConfig=encryption(OTHERS)
        )
    account.eks.associate_encryption_config(clusterName="c", encryptionConfig=encryption(key))
    cluster = account.eks.describe_cluster(name="c")["cluster"]
    assert cluster["encryptionConfig"] == encryption(key)
    with refused("InvalidRequestException", "already enabled"):
        account.eks.associate_encryption_config(clusterName="c", encryptionConfig=encryption(key))


def test_a_cluster_is_made_with_a_key_that_exists(account: Account):
    with refused("InvalidParameterException", "does not exist"):
        account.cluster(encryptionConfig=encryption(OTHERS))
    key = account.client("kms").create_key()["KeyMetadata"]["Arn"]
    account.client("kms").disable_key(KeyId=key.rpartition("/")[2])
    with refused("InvalidParameterException", "not an enabled symmetric key"):
        account.cluster("d", encryptionConfig=encryption(key))
    account.client("kms").enable_key(KeyId=key.rpartition("/")[2])
    assert account.cluster("e", encryptionConfig=encryption(key))["encryptionConfig"]


def test_a_cluster_goes_back_within_seven_days_of_its_upgrade(account: Account):
    """https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html."""
    account.cluster(version=PREVIOUS)
    back = {"name": "c", "version": PREVIOUS}
    proxy = {"clusterName": "c", "addonName": "kube-proxy"}
    upgrade(account)
    account.eks.create_addon(**proxy)
    with refused("InvalidRequestException", "kube-proxy has"):
        account.eks.update_cluster_version(**back)
    account.eks.update_addon(**proxy, addonVersion=EKS_VERSIONS[PREVIOUS].kube_proxy)
    node_group(account)
    with refused("InvalidRequestException", f"n has {DEFAULT}, which is newer than {PREVIOUS}"):
        account.eks.update_cluster_version(**back)
    account.eks.delete_nodegroup(clusterName="c", nodegroupName="n")
    update = account.eks.update_cluster_version(**back)["update"]
    assert update["type"] == "VersionRollback"
    assert described(account) == ("ACTIVE", PREVIOUS)


def test_a_cluster_that_was_created_with_its_version_does_not_go_back(account: Account):
    account.cluster()
    with refused("InvalidRequestException", "not upgraded"):
        account.eks.update_cluster_version(name="c", version=PREVIOUS)
