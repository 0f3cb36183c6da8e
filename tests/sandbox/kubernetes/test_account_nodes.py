"""Nodes of the sandbox's own account: instances of EKS, Auto Scaling and EC2 really join."""

from __future__ import annotations

import base64
import json
import threading

import pytest
import yaml

from trainyard.sandbox.access import Endpoint

from trainyard.sandbox.aws.server import AwsServer  # isort: skip  - before anything that imports moto
import boto3

from tests.support.kubernetes import DEFAULT, device_plugin
from tests.support.processes import spawn, until
from tests.support.sandbox_aws import NVIDIA_IMAGE
from trainyard.sandbox.kubernetes.control_planes import ControlPlanes
from trainyard.sandbox.kubernetes.instances import SandboxAccount
from trainyard.sandbox.kubernetes.nodes import NodeSimulator

pytestmark = pytest.mark.kubernetes

CAPACITY_BLOCK = "cr-0123456789abcdef0"
SUBNETS = ["subnet-0a000000000000002", "subnet-0b000000000000002"]
NODES = 2


class Account:
    """The account's API, and a control plane for each of its clusters."""

    def __init__(self, endpoint: Endpoint) -> None:
        session = boto3.Session(region_name="us-west-2", **endpoint.credentials)
        self.ec2, self.eks, self.iam, self.autoscaling = (
            session.client(service, endpoint_url=endpoint.url)
            for service in ("ec2", "eks", "iam", "autoscaling")
        )

    def role(self, name: str, service: str) -> str:
        """Create a role and an instance profile of the same name; return the role's ARN."""
        trust = {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Principal": {"Service": service},
                    "Action": "sts:AssumeRole",
                }
            ],
        }
        role = self.iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust))
        self.iam.create_instance_profile(InstanceProfileName=name)
        self.iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=name)
        return role["Role"]["Arn"]

    def cluster(self, name: str) -> dict:
        """Create a cluster and wait until it is ACTIVE; return its description."""
        self.eks.create_cluster(
            name=name,
            version=DEFAULT,
            roleArn=self.role(f"{name}-service", "eks.amazonaws.com"),
            resourcesVpcConfig={"subnetIds": SUBNETS, "endpointPrivateAccess": True},
            accessConfig={"authenticationMode": "API_AND_CONFIG_MAP"},
        )
        until(lambda: self.description(name)["status"] == "ACTIVE", "the cluster being ACTIVE")
        return self.description(name)

    def description(self, name: str) -> dict:
        """Return EKS's description of a cluster."""
        return self.eks.describe_cluster(name=name)["cluster"]

    def p5_nodes(self, cluster: dict, security_group: str) -> None:
        """Launch nodes into the Capacity Block, each with the p5's 32 EFA interfaces."""
        self.role("p5-node", "ec2.amazonaws.com")
        config = {
            "apiVersion": "node.eks.aws/v1alpha1",
            "kind": "NodeConfig",
            "spec": {
                "cluster": {
                    "name": cluster["name"],
                    "apiServerEndpoint": cluster["endpoint"],
                    "certificateAuthority": cluster["certificateAuthority"]["data"],
                    "cidr": cluster["kubernetesNetworkConfig"]["serviceIpv4Cidr"],
                },
                "kubelet": {"config": {"maxPods": 49}},
            },
        }
        template = self.ec2.create_launch_template(
            LaunchTemplateName="p5",
            LaunchTemplateData={
                "ImageId": NVIDIA_IMAGE,
                "InstanceType": "p5.48xlarge",
                "IamInstanceProfile": {"Name": "p5-node"},
                "UserData": base64.b64encode(yaml.safe_dump(config).encode()).decode(),
                "InstanceMarketOptions": {"MarketType": "capacity-block"},
                "CapacityReservationSpecification": {
                    "CapacityReservationTarget": {"CapacityReservationId": CAPACITY_BLOCK}
                },
                "NetworkInterfaces": [
                    {
                        "NetworkCardIndex": card,
                        "DeviceIndex": device,
                        "InterfaceType": kind,
                        "Groups": [security_group],
                    }
                    for card, device, kind in [(0, 0, "interface"), (0, 1, "efa-only")]
                    + [(card, 0, "efa-only") for card in range(1, 32)]
                ],
            },
        )["LaunchTemplate"]
        self.autoscaling.create_auto_scaling_group(
            AutoScalingGroupName="p5",
            LaunchTemplate={"LaunchTemplateId": template["LaunchTemplateId"], "Version": "1"},
            MinSize=0,
            MaxSize=NODES,
            DesiredCapacity=NODES,
            VPCZoneIdentifier="subnet-0b000000000000002",
        )


@pytest.fixture
def account(kubernetes_programs, tmp_path):
    with AwsServer(region="us-west-2") as server:
        planes = ControlPlanes(tmp_path, kubernetes_programs, server.access, spawn)
        server.use_control_planes(planes)
        stop = threading.Event()
        account = SandboxAccount(server.access, "us-west-2", server.running_instance_ids)
        simulator = NodeSimulator(account, planes)
        thread = threading.Thread(target=simulator.run, args=(stop,))
        thread.start()
        try:
            yield Account(server.access), planes
        finally:
            stop.set()
            thread.join()
            planes.stop_all()


def test_a_capacity_blocks_nodes_join_once_their_role_has_an_access_entry(account, caplog):
    """PR-28, G14: two p5 nodes with 8 GPUs and 32 EFA devices each, and their end."""
    aws, planes = account
    cluster = aws.cluster("p5-cb")
    api = planes.get("p5-cb").administrator()
    assert cluster["endpoint"] == planes.get("p5-cb").endpoint
    for kind in ("nvidia", "efa"):
        api.post("/apis/apps/v1/namespaces/kube-system/daemonsets", device_plugin(kind))

    aws.p5_nodes(cluster, cluster["resourcesVpcConfig"]["clusterSecurityGroupId"])
    until(lambda: "is not in aws-auth" in caplog.text, "the nodes being refused")
    role = aws.iam.get_role(RoleName="p5-node")["Role"]["Arn"]
    aws.eks.create_access_entry(clusterName="p5-cb", principalArn=role, type="EC2_LINUX")

    def allocatable() -> list[tuple[str | None, str | None]]:
        nodes = [node["status"]["allocatable"] for node in api.get("/api/v1/nodes")["items"]]
        return [(n.get("nvidia.com/gpu"), n.get("vpc.amazonaws.com/efa")) for n in nodes]

    until(lambda: allocatable() == [("8", "32")] * NODES, "both nodes with their devices")
    aws.autoscaling.update_auto_scaling_group(
        AutoScalingGroupName="p5", MinSize=0, DesiredCapacity=0
    )
    until(lambda: allocatable() == [], "the nodes going")


def test_nodes_without_the_cluster_security_group_never_reach_the_api_server(account, caplog):
    """A launch template with security groups does not get the cluster's; its nodes do not join."""
    aws, _ = account
    cluster = aws.cluster("p5-cb")
    vpc = cluster["resourcesVpcConfig"]["vpcId"]
    group = aws.ec2.create_security_group(GroupName="efa", Description="EFA", VpcId=vpc)["GroupId"]
    aws.p5_nodes(cluster, group)
    until(lambda: "cannot reach the API server" in caplog.text, "the reason in the log")
    cluster_group = cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]
    assert f"carries the cluster security group {cluster_group}" in caplog.text
