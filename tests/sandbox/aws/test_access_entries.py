"""Access entries, and the answers to the authenticator (EKX rows, PR-25)."""

from __future__ import annotations

import json
from urllib.error import HTTPError
from urllib.parse import urlencode

import pytest

from tests.support.sandbox_aws import ACCOUNT, PRIVATE_A, Account, refused

ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"


def identity(account: Account, arn: str, session: str = "s", cluster: str = "c") -> dict:
    query = urlencode({"cluster": cluster, "arn": arn, "session": session})
    return account.server.access.ask("GET", f"identity?{query}")


def test_a_node_entry_is_what_eks_makes_it(account: Account) -> None:
    account.cluster()
    node = account.role("node")
    made = account.eks.create_access_entry(clusterName="c", principalArn=node, type="EC2_LINUX")
    assert made["accessEntry"]["username"] == "system:node:{{EC2PrivateDNSName}}"
    assert made["accessEntry"]["kubernetesGroups"] == ["system:nodes"]
    assert identity(account, node)["access_entry"] == {
        "username": "system:node:{{EC2PrivateDNSName}}",
        "kubernetes_groups": ["system:nodes"],
    }
    account.eks.delete_access_entry(clusterName="c", principalArn=node)
    assert identity(account, node)["access_entry"] is None


def test_an_entry_of_a_role_with_a_path_is_found_by_the_sts_name(account: Account) -> None:
    account.cluster()
    account.iam.create_role(
        RoleName="deep", Path="/a/b/", AssumeRolePolicyDocument='{"Version": "2012-10-17"}'
    )
    principal = f"arn:aws:iam::{ACCOUNT}:role/a/b/deep"
    account.eks.create_access_entry(clusterName="c", principalArn=principal)
    entry = account.eks.describe_access_entry(clusterName="c", principalArn=principal)
    assert entry["accessEntry"]["username"].endswith("assumed-role/deep/{{SessionName}}")
    assert identity(account, f"arn:aws:iam::{ACCOUNT}:role/deep")["access_entry"] is not None


@pytest.mark.parametrize(
    ("code", "words", "request_"),
    [
        ("InvalidParameterException", "cannot start with system:",
         {"kubernetesGroups": ["system:masters"]}),
        ("InvalidParameterException", "EC2_LINUX",
         {"type": "EC2_LINUX", "kubernetesGroups": ["mine"]}),
        ("InvalidParameterException", "invalid principal",
         {"principalArn": f"arn:aws:iam::{ACCOUNT}:role/nobody"}),
    ],
)  # fmt: skip
def test_an_entry_that_eks_refuses(account: Account, code: str, words: str, request_: dict) -> None:
    account.cluster()
    entry = {"clusterName": "c", "principalArn": account.role("node"), **request_}
    with refused(code, words):
        account.eks.create_access_entry(**entry)


def test_entries_do_not_count_in_the_mode_of_the_config_map(account: Account) -> None:
    account.cluster(accessConfig={"authenticationMode": "CONFIG_MAP"})
    node = account.role("node")
    with refused("InvalidRequestException", "[API, API_AND_CONFIG_MAP]"):
        account.eks.create_access_entry(clusterName="c", principalArn=node)
    account.eks.create_nodegroup(
        clusterName="c",
        nodegroupName="n",
        nodeRole=node,
        subnets=[PRIVATE_A],
        instanceTypes=["c5.2xlarge"],
    )
    assert identity(account, node) == {
        "authentication_mode": "CONFIG_MAP",
        "access_entry": None,
        "creator": None,
        "private_dns_name": None,
    }


def test_one_principal_has_one_entry(account: Account) -> None:
    account.cluster()
    node = account.role("node")
    account.eks.create_access_entry(clusterName="c", principalArn=node)
    with refused("ResourceInUseException"):
        account.eks.create_access_entry(clusterName="c", principalArn=node)
    account.eks.update_access_entry(clusterName="c", principalArn=node, kubernetesGroups=["ml"])
    entry = account.eks.describe_access_entry(clusterName="c", principalArn=node)["accessEntry"]
    assert entry["kubernetesGroups"] == ["ml"]


def test_the_creator_is_an_administrator_where_asked(account: Account) -> None:
    account.cluster()
    (creator,) = account.eks.list_access_entries(clusterName="c")["accessEntries"]
    policies = account.eks.list_associated_access_policies(clusterName="c", principalArn=creator)
    assert [each["policyArn"] for each in policies["associatedAccessPolicies"]] == [ADMIN]


def test_policies_are_associated_with_standard_entries(account: Account) -> None:
    account.cluster()
    person, node = account.role("person"), account.role("node")
    account.eks.create_access_entry(clusterName="c", principalArn=person)
    account.eks.create_access_entry(clusterName="c", principalArn=node, type="EC2_LINUX")
    scope = {"accessScope": {"type": "cluster"}}
    of_person = {"clusterName": "c", "principalArn": person}
    account.eks.associate_access_policy(**of_person, policyArn=ADMIN, **scope)
    with refused("InvalidRequestException", "STANDARD"):
        account.eks.associate_access_policy(
            clusterName="c", principalArn=node, policyArn=ADMIN, **scope
        )
    with refused("InvalidParameterException", "policyArn"):
        account.eks.associate_access_policy(
            **of_person, policyArn="arn:aws:iam::aws:policy/Read", **scope
        )
    account.eks.disassociate_access_policy(**of_person, policyArn=ADMIN)
    left = account.eks.list_associated_access_policies(**of_person)
    assert left["associatedAccessPolicies"] == []


def test_the_private_dns_name_is_that_of_the_instance_that_asks(account: Account) -> None:
    account.cluster()
    node = account.role("node")
    account.eks.create_nodegroup(
        clusterName="c",
        nodegroupName="n",
        nodeRole=node,
        subnets=[PRIVATE_A],
        instanceTypes=["c5.2xlarge"],
    )
    (instance,) = account.instances()
    asked = identity(account, node, instance["InstanceId"])
    assert asked["private_dns_name"] == instance["PrivateDnsName"]
    assert asked["authentication_mode"] == "API_AND_CONFIG_MAP"
    account.ec2.terminate_instances(InstanceIds=[instance["InstanceId"]])
    assert identity(account, node, instance["InstanceId"])["private_dns_name"] is None


def test_a_user_asks_without_a_session(account: Account) -> None:
    account.cluster()
    (creator,) = account.eks.list_access_entries(clusterName="c")["accessEntries"]
    asked = identity(account, creator, session="")
    assert asked["access_entry"] == {"username": creator, "kubernetes_groups": ["system:masters"]}
    assert asked["private_dns_name"] is None


def test_an_unknown_cluster_has_no_identities(account: Account) -> None:
    with pytest.raises(HTTPError) as caught:
        identity(account, "arn:aws:iam::123456789012:role/x", cluster="none")
    with caught.value:
        assert caught.value.code == 404
        assert "none" in json.load(caught.value)["message"]


def test_tags_of_every_object_can_be_changed(account: Account) -> None:
    arn = account.cluster(tags={"a": "1"})["arn"]
    node = account.role("node")
    entry = account.eks.create_access_entry(clusterName="c", principalArn=node)["accessEntry"]
    for each in (arn, entry["accessEntryArn"]):
        account.eks.tag_resource(resourceArn=each, tags={"b": "2"})
        assert account.eks.list_tags_for_resource(resourceArn=each)["tags"]["b"] == "2"
        account.eks.untag_resource(resourceArn=each, tagKeys=["b"])
    assert account.eks.list_tags_for_resource(resourceArn=arn)["tags"] == {"a": "1"}


def test_an_access_key_of_the_sandbox_is_its_creators_and_others_are_their_owners(
    account: Account,
) -> None:
    access = account.server.access

    def caller(key: str) -> str:
        return access.ask("GET", f"caller?access_key={key}")["arn"]

    role = account.person_role("ada")
    session = account.client("sts").assume_role(RoleArn=role, RoleSessionName="session")
    key = session["Credentials"]["AccessKeyId"]
    assert caller(access.access_key) == f"arn:aws:iam::{ACCOUNT}:user/moto"
    assert caller(key) == f"arn:aws:sts::{ACCOUNT}:assumed-role/ada/session"
    with pytest.raises(HTTPError, match="404"):
        caller("AKIAIOSFODNN7EXAMPLE")


def test_the_creator_needs_no_entry_where_there_are_none(account: Account) -> None:
    account.cluster(accessConfig={"authenticationMode": "CONFIG_MAP"})
    asked = identity(account, f"arn:aws:iam::{ACCOUNT}:user/moto", session="")
    assert asked["creator"] == {
        "username": "kubernetes-admin",
        "kubernetes_groups": ["system:masters"],
    }
    assert identity(account, account.role("person"))["creator"] is None


def test_entries_of_node_groups_are_made_when_entries_begin_to_count(account: Account) -> None:
    account.cluster(accessConfig={"authenticationMode": "CONFIG_MAP"})
    node = account.role("node")
    account.eks.create_nodegroup(
        clusterName="c",
        nodegroupName="n",
        nodeRole=node,
        subnets=[PRIVATE_A],
        instanceTypes=["c5.2xlarge"],
    )
    both = {"authenticationMode": "API_AND_CONFIG_MAP"}
    update = account.eks.update_cluster_config(name="c", accessConfig=both)["update"]
    found = account.eks.describe_update(name="c", updateId=update["id"])["update"]
    assert (found["type"], found["status"]) == ("AccessConfigUpdate", "Successful")
    entry = account.eks.describe_access_entry(clusterName="c", principalArn=node)["accessEntry"]
    assert entry["type"] == "EC2_LINUX"


@pytest.mark.parametrize(
    ("current", "wanted"),
    [
        ("CONFIG_MAP", "API"),
        ("CONFIG_MAP", "CONFIG_MAP"),
        ("API_AND_CONFIG_MAP", "CONFIG_MAP"),
        ("API", "API_AND_CONFIG_MAP"),
    ],
)
def test_a_mode_moves_one_step_one_way(account: Account, current: str, wanted: str) -> None:
    """The message is that of https://github.com/pulumi/pulumi-eks/issues/1493."""
    account.cluster(accessConfig={"authenticationMode": current})
    words = f"Unsupported authentication mode update from {current} to {wanted}"
    with refused("InvalidParameterException", words):
        account.eks.update_cluster_config(name="c", accessConfig={"authenticationMode": wanted})


def test_without_entries_the_creator_cannot_be_left_out(account: Account) -> None:
    access = {"bootstrapClusterCreatorAdminPermissions": False}
    with refused("InvalidParameterException", "must be true", "CONFIG_MAP"):
        account.cluster(accessConfig={"authenticationMode": "CONFIG_MAP", **access})
    account.cluster("d", accessConfig={"authenticationMode": "API", **access})
    assert account.eks.list_access_entries(clusterName="d")["accessEntries"] == []


def test_a_policy_for_some_namespaces_is_not_played(account: Account) -> None:
    account.cluster()
    person = account.role("person")
    account.eks.create_access_entry(clusterName="c", principalArn=person)
    with refused("SandboxNotImplemented", "namespace"):
        account.eks.associate_access_policy(
            clusterName="c",
            principalArn=person,
            policyArn=ADMIN,
            accessScope={"type": "namespace", "namespaces": ["team"]},
        )
