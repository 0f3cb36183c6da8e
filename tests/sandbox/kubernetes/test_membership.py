"""Whether an instance is a node of a cluster, and reasons why it cannot join."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path

import pytest

from trainyard.sandbox.kubernetes.control_planes import ControlPlane
from trainyard.sandbox.kubernetes.credentials import make_credentials
from trainyard.sandbox.kubernetes.instances import Instance
from trainyard.sandbox.kubernetes.kubelet import session_arn
from trainyard.sandbox.kubernetes.nodes import CannotJoinError, admits, kubelet_of

ROLE = "arn:aws:iam::123456789012:role/p5-node"
CLUSTER_GROUP = "sg-0c105e50000000001"
NODE_GROUP_TAGS = {"eks:cluster-name": "p5-cb", "eks:nodegroup-name": "system"}


@pytest.fixture(scope="module")
def control_plane(tmp_path_factory):
    directory: Path = tmp_path_factory.mktemp("cluster")
    credentials, token = make_credentials(directory / "pki")
    return ControlPlane(
        name="p5-cb",
        endpoint="https://127.0.0.1:6443",
        certificate_authority_data=credentials.certificate_authority_data,
        admin_token=token,
        access_key="SANDBOX00",
        directory=directory,
    )


class Clusters:
    def __init__(self, control_plane):
        self._control_plane = control_plane

    def get(self, name):
        return self._control_plane if name == "p5-cb" else None


class Account:
    def __init__(self, rules=(), *, private_access=True, role=ROLE):
        self._rules, self._private_access, self._role = list(rules), private_access, role

    def role_arn(self, instance_profile):
        assert instance_profile == "p5-profile"
        return self._role

    def node_group(self, cluster, name):
        assert (cluster, name) == ("p5-cb", "system")
        return {
            "nodegroupName": name,
            "nodeRole": "arn:aws:iam::123456789012:role/system-node",
            "capacityType": "ON_DEMAND",
            "labels": {"role": "system"},
            "taints": [{"key": "a", "value": "b", "effect": "PREFER_NO_SCHEDULE"}],
            "createdAt": dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
        }

    def cluster(self, name):
        assert name == "p5-cb"
        return {
            "accessConfig": {"authenticationMode": "API_AND_CONFIG_MAP"},
            "resourcesVpcConfig": {
                "clusterSecurityGroupId": CLUSTER_GROUP,
                "endpointPrivateAccess": self._private_access,
            },
        }

    def ingress_rules(self, security_group_id):
        assert security_group_id == CLUSTER_GROUP
        return self._rules


@pytest.fixture
def instance(control_plane):
    user_data = f"""\
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: p5-cb
    apiServerEndpoint: {control_plane.endpoint}
    certificateAuthority: {control_plane.certificate_authority_data}
    cidr: 10.100.0.0/16
"""
    return Instance(
        instance_id="i-0123456789abcdef0",
        instance_type="p5.48xlarge",
        image_id="ami-0123456789abcdef0",
        region="us-west-2",
        availability_zone="us-west-2b",
        zone_id="usw2-az1",
        private_dns_name="ip-10-0-1-2.us-west-2.compute.internal",
        private_ip_address="10.0.1.2",
        efa_interfaces=32,
        security_group_ids=(CLUSTER_GROUP, "sg-0efa0000000000001"),
        instance_profile="p5-profile",
        root_volume_gib=500,
        user_data=user_data.encode(),
        tags={},
    )


def test_an_instance_with_a_node_config_is_a_node_of_that_cluster(instance, control_plane):
    kubelet = kubelet_of(instance, Account(), Clusters(control_plane))
    assert kubelet is not None
    assert kubelet.control_plane is control_plane
    assert kubelet.node_name == "ip-10-0-1-2.us-west-2.compute.internal"


def test_an_instance_of_a_managed_group_needs_no_user_data(instance, control_plane):
    managed = replace(instance, user_data=b"", tags=NODE_GROUP_TAGS)
    kubelet = kubelet_of(managed, Account(), Clusters(control_plane))
    assert kubelet is not None
    assert kubelet.control_plane is control_plane


def test_other_instances_are_no_nodes(instance, control_plane):
    bastion = replace(instance, user_data=b"#!/bin/bash\n")
    assert kubelet_of(bastion, Account(), Clusters(control_plane)) is None


@pytest.mark.parametrize(
    ("change", "account", "words"),
    [
        pytest.param(
            {"instance_profile": ""}, Account(), "no IAM instance profile", id="no-profile"
        ),
        pytest.param({}, Account(role=None), "p5-profile holds no role", id="no-role"),
        pytest.param(
            {"instance_type": "p5.49xlarge"}, Account(), "no instance type 'p5.49xlarge'", id="type"
        ),
        pytest.param(
            {"security_group_ids": ("sg-0efa0000000000001",)},
            Account(),
            f"cluster security group {CLUSTER_GROUP}",
            id="cluster-security-group",
        ),
        pytest.param(
            {"user_data": b"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"},
            Account(),
            r"lacks spec\.cluster\.name, ",
            id="nothing-said",
        ),
        pytest.param(
            {"user_data": b"apiVersion: node.eks.aws/v1alpha1\nkind: Pod\n"},
            Account(),
            "nodeadm refuses its user data",
            id="not-a-node-config",
        ),
    ],
)
def test_a_node_that_cannot_join_says_why(instance, control_plane, change, account, words):
    with pytest.raises(CannotJoinError, match=words):
        kubelet_of(replace(instance, **change), account, Clusters(control_plane))


def test_a_cluster_that_is_not_there_yet_is_named(instance):
    with pytest.raises(CannotJoinError, match="no cluster 'p5-cb' has an API server"):
        kubelet_of(instance, Account(), Clusters(None))


def test_an_api_server_on_the_internet_needs_no_cluster_security_group(instance, control_plane):
    outside = replace(instance, security_group_ids=())
    account = Account(private_access=False)
    assert kubelet_of(outside, account, Clusters(control_plane)) is not None


@pytest.mark.parametrize(
    ("rule", "admitted"),
    [
        pytest.param(
            {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-0efa0000000000001"}]},
            True,
            id="all-from-its-group",
        ),
        pytest.param(
            {
                "IpProtocol": "tcp",
                "FromPort": 443,
                "ToPort": 443,
                "IpRanges": [{"CidrIp": "10.0.0.0/16"}],
            },
            True,
            id="https-from-its-network",
        ),
        pytest.param(
            {
                "IpProtocol": "tcp",
                "FromPort": 22,
                "ToPort": 22,
                "IpRanges": [{"CidrIp": "10.0.0.0/16"}],
            },
            False,
            id="another-port",
        ),
        pytest.param(
            {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": CLUSTER_GROUP}]},
            False,
            id="another-group",
        ),
        pytest.param(
            {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "192.168.0.0/16"}]},
            False,
            id="another-network",
        ),
    ],
)
def test_a_rule_of_the_cluster_security_group_may_let_a_node_in(instance, rule, admitted):
    outside = replace(instance, security_group_ids=("sg-0efa0000000000001",))
    assert admits([rule], outside) is admitted


def test_sts_drops_the_path_of_a_role():
    """PR-25: why aws-auth must name a role without its path."""
    role = "arn:aws:iam::123456789012:role/eks/nodes/p5-node"
    assert session_arn(role, "i-0123456789abcdef0") == (
        "arn:aws:sts::123456789012:assumed-role/p5-node/i-0123456789abcdef0"
    )
