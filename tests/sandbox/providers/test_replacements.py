"""What forces a new object, as the official providers' sources say it.

Sources, each in https://github.com/hashicorp/terraform-provider-aws under `internal/service`:
`eks/node_group.go`, `eks/cluster.go`, `ec2/vpc_security_group_ingress_rule.go`.
"""

import pytest

from sandbox.providers.aws.servicer import AwsServicer
from tests.support.provider_plugin import Made, Plugin

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
CLUSTER = "aws:eks/cluster:Cluster"
RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
GROUP_INPUTS = {
    "clusterName": "c",
    "nodeRoleArn": "r",
    "nodeGroupName": "it-1234567",
    "subnetIds": ["subnet-1"],
    "scalingConfig": {"minSize": 0, "desiredSize": 2, "maxSize": 2},
    "launchTemplate": {"id": "lt-1", "version": "1"},
}
CLUSTER_INPUTS = {
    "name": "c",
    "roleArn": "r",
    "version": "1.35",
    "bootstrapSelfManagedAddons": True,
    "vpcConfig": {"subnetIds": ["subnet-1", "subnet-2"]},
    "encryptionConfig": {"provider": {"keyArn": "k"}, "resources": ["secrets"]},
}
RULE_INPUTS = {
    "securityGroupId": "sg-1",
    "ipProtocol": "tcp",
    "fromPort": 988,
    "toPort": 988,
    "cidrIpv4": "10.0.0.0/16",
}


@pytest.mark.parametrize(
    ("token", "inputs", "change", "replaces"),
    [
        (NODE_GROUP, GROUP_INPUTS, {"launchTemplate": {"id": "lt-1", "version": "2"}}, []),
        (
            NODE_GROUP,
            GROUP_INPUTS,
            {"launchTemplate": {"id": "lt-2", "version": "1"}},
            ["launchTemplate"],
        ),
        (NODE_GROUP, GROUP_INPUTS, {"subnetIds": ["subnet-2"]}, ["subnetIds"]),
        (NODE_GROUP, GROUP_INPUTS, {"scalingConfig": {"desiredSize": 1}}, []),
        (NODE_GROUP, GROUP_INPUTS, {"labels": {"a": "b"}, "releaseVersion": "1"}, []),
        (CLUSTER, CLUSTER_INPUTS, {"version": "1.36"}, []),
        (CLUSTER, CLUSTER_INPUTS, {"vpcConfig": {"subnetIds": ["subnet-3"]}}, []),
        (CLUSTER, CLUSTER_INPUTS, {"encryptionConfig": None}, ["encryptionConfig"]),
        (RULE, RULE_INPUTS, {"cidrIpv4": "10.1.0.0/16", "toPort": 989}, []),
        (RULE, RULE_INPUTS, {"securityGroupId": "sg-2"}, ["securityGroupId"]),
        (
            RULE,
            RULE_INPUTS,
            {"cidrIpv4": None, "referencedSecurityGroupId": "sg-2"},
            ["cidrIpv4", "referencedSecurityGroupId"],
        ),
    ],
)
def test_a_change_replaces_what_the_official_provider_replaces(token, inputs, change, replaces):
    plugin = Plugin(AwsServicer("http://127.0.0.1:1"), region="us-west-2")
    news = {key: value for key, value in {**inputs, **change}.items() if value is not None}
    changed, replacing = plugin.diff(token, Made("it", inputs, inputs), news)
    assert sorted(replacing) == replaces
    assert set(changed) == set(change)
