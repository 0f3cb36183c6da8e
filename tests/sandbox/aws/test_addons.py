"""EKS add-ons: their settings, the roles of their pods, and their health."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.sandbox_aws import Account, refused

EBS = {"clusterName": "c", "addonName": "aws-ebs-csi-driver"}
SERVICE_ACCOUNT = "ebs-csi-controller-sa"


@pytest.fixture
def cluster(account: Account) -> Account:
    account.cluster("c")
    return account


def addon(account: Account) -> dict[str, Any]:
    return account.eks.describe_addon(**EBS)["addon"]


def associations(account: Account) -> list[dict[str, Any]]:
    return account.eks.list_pod_identity_associations(clusterName="c")["associations"]


def test_the_roles_of_an_addon_are_associations_that_belong_to_it(cluster: Account) -> None:
    role = cluster.pod_role("ebs")
    wanted = [{"serviceAccount": SERVICE_ACCOUNT, "roleArn": role}]
    cluster.eks.create_addon(**EBS, podIdentityAssociations=wanted)
    (association,) = associations(cluster)
    assert addon(cluster)["podIdentityAssociations"] == [association["associationArn"]]
    assert association["ownerArn"] == addon(cluster)["addonArn"]
    assert (association["namespace"], association["serviceAccount"]) == (
        "kube-system",
        SERVICE_ACCOUNT,
    )
    by_id = {"clusterName": "c", "associationId": association["associationId"]}
    with refused("InvalidParameterException", "belongs to the add-on"):
        cluster.eks.delete_pod_identity_association(**by_id)
    cluster.eks.delete_addon(**EBS)
    assert associations(cluster) == []


def test_an_update_replaces_all_roles_of_an_addon(cluster: Account) -> None:
    """https://docs.aws.amazon.com/eks/latest/userguide/update-addon-role.html."""
    role = cluster.pod_role("ebs")
    first, second = ([{"serviceAccount": name, "roleArn": role}] for name in ("a", "b"))
    cluster.eks.create_addon(**EBS, podIdentityAssociations=first)
    cluster.eks.update_addon(**EBS, podIdentityAssociations=second)
    assert [each["serviceAccount"] for each in associations(cluster)] == ["b"]
    cluster.eks.update_addon(**EBS, podIdentityAssociations=[])
    assert associations(cluster) == []


def test_an_association_comes_changes_and_goes(cluster: Account) -> None:
    named = {"clusterName": "c", "namespace": "training", "serviceAccount": "job"}
    first, second = cluster.pod_role("first"), cluster.pod_role("second")
    made = cluster.eks.create_pod_identity_association(**named, roleArn=first)["association"]
    by_id = {"clusterName": "c", "associationId": made["associationId"]}
    with refused("ResourceInUseException"):
        cluster.eks.create_pod_identity_association(**named, roleArn=second)
    cluster.eks.update_pod_identity_association(**by_id, roleArn=second)
    found = cluster.eks.describe_pod_identity_association(**by_id)["association"]
    assert found["roleArn"] == second
    cluster.eks.delete_pod_identity_association(**by_id)
    with refused("ResourceNotFoundException"):
        cluster.eks.describe_pod_identity_association(**by_id)


def test_a_role_that_pods_may_not_take_is_refused(cluster: Account) -> None:
    named = {"clusterName": "c", "namespace": "training", "serviceAccount": "job"}
    with refused("InvalidParameterException", "pods.eks.amazonaws.com", "sts:TagSession"):
        cluster.eks.create_pod_identity_association(**named, roleArn=cluster.role("of-nodes"))
    with refused("InvalidParameterException", "cannot be found"):
        cluster.eks.create_pod_identity_association(
            **named, roleArn="arn:aws:iam::123456789012:role/nobody"
        )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("{", ["not an object"]),
        ('{"controler": {}}', ["$.controler", "not defined in the schema"]),
        ('{"controller": {"affinities": {}}}', ["$.controller.affinities"]),
    ],
)
def test_settings_that_no_schema_has_are_refused(
    cluster: Account, settings: str, words: list[str]
) -> None:
    with refused("InvalidParameterException", *words):
        cluster.eks.create_addon(**EBS, configurationValues=settings)
    assert cluster.eks.list_addons(clusterName="c")["addons"] == []


class Installer:
    """Replaces the clusters: records installed add-ons, and has the issues that a test sets."""

    def __init__(self) -> None:
        self.installed: dict[str, Mapping[str, Any]] = {}
        self.reason: str | None = None

    def install(self, cluster: str, addon: str, settings: Mapping[str, Any]) -> None:
        self.installed[f"{cluster}/{addon}"] = settings

    def remove(self, cluster: str, addon: str) -> None:
        del self.installed[f"{cluster}/{addon}"]

    def trouble(self, cluster: str, addon: str) -> str | None:
        assert f"{cluster}/{addon}" in self.installed
        return self.reason


@pytest.fixture
def installer(cluster: Account) -> Installer:
    made = Installer()
    cluster.server.use_addon_installer(made)
    return made


def test_an_addon_installs_and_removes_what_it_consists_of(
    cluster: Account, installer: Installer
) -> None:
    key = "c/aws-ebs-csi-driver"
    cluster.eks.create_addon(**EBS)
    assert installer.installed == {key: {}}
    cluster.eks.update_addon(**EBS, configurationValues='{"controller": {"replicaCount": 1}}')
    assert installer.installed == {key: {"controller": {"replicaCount": 1}}}
    cluster.eks.delete_addon(**EBS)
    assert installer.installed == {}


def test_what_is_preserved_stays_in_the_cluster(cluster: Account, installer: Installer) -> None:
    cluster.eks.create_addon(**EBS)
    cluster.eks.delete_addon(**EBS, preserve=True)
    assert list(installer.installed) == ["c/aws-ebs-csi-driver"]


def test_an_addon_whose_pods_find_no_node_is_degraded_until_they_do(
    cluster: Account, installer: Installer
) -> None:
    installer.reason = "0 of 2 pods of ebs-csi-controller are available."
    cluster.eks.create_addon(**EBS)
    found = addon(cluster)
    assert found["status"] == "DEGRADED"
    (issue,) = found["health"]["issues"]
    assert issue["code"] == "InsufficientNumberOfReplicas"
    assert issue["message"] == installer.reason
    installer.reason = None
    assert (addon(cluster)["status"], addon(cluster)["health"]) == ("ACTIVE", {"issues": []})
