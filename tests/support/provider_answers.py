"""Answers of the providers for the test engine: outputs of resources and of calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

ACCOUNT_ID = "123456789012"
RESOURCE_SIGNATURE = "5cf8f73096256a8f31e491e813e4eb8e"
SIGNATURE_KEY = "4dabf18193072939515e22adb298388d"
"""How the engine marks a value that represents a resource.
https://github.com/pulumi/pulumi/blob/master/sdk/python/lib/pulumi/runtime/rpc.py"""

CALLS: Mapping[str, Mapping[str, Any]] = {
    "aws:index/getCallerIdentity:getCallerIdentity": {
        "accountId": ACCOUNT_ID,
        "arn": f"arn:aws:iam::{ACCOUNT_ID}:user/test",
        "id": ACCOUNT_ID,
        "userId": "test",
    },
    "aws:index/getPartition:getPartition": {"partition": "aws", "dnsSuffix": "amazonaws.com"},
    "aws:index/getRegion:getRegion": {"name": "us-west-2", "region": "us-west-2"},
    "aws:cloudformation/getStack:getStack": {
        "parameters": {"ClusterCWLogGroup": "/aws/parallelcluster/pc-202611210900"},
        "outputs": {},
        "id": "pc",
    },
    "aws:ssm/getParameter:getParameter": {
        "value": "ami-0123456789abcdef0",
        "insecureValue": "ami-0123456789abcdef0",
        "type": "String",
        "version": 1,
    },
}

CONTROL_PLANE_URN = "urn:pulumi:test::trainyard::eks:index:Cluster$aws:eks/cluster:Cluster::cluster"
CONTROL_PLANE = {
    "id": "cluster",
    "name": "cluster",
    "arn": f"arn:aws:eks:us-west-2:{ACCOUNT_ID}:cluster/cluster",
    "endpoint": "https://0123456789.gr7.us-west-2.eks.amazonaws.com",
    "version": "1.35",
    "certificateAuthority": {"data": "Q0VSVElGSUNBVEU="},
    "kubernetesNetworkConfig": {"serviceIpv4Cidr": "172.20.0.0/16", "ipFamily": "ipv4"},
}
REFERENCED = {CONTROL_PLANE_URN: CONTROL_PLANE}
"""Resources to which others refer, by URN."""


def outputs(type_: str, name: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs that a provider adds to the inputs of one resource."""
    if type_ == "eks:index:Cluster":
        return _eks_cluster(inputs)
    return _outputs(name, inputs).get(type_, {})


def _outputs(name: str, inputs: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    regional = f"us-west-2:{ACCOUNT_ID}"
    behind = {"autoscalingGroups": [{"name": f"eks-{name}"}]}
    groups = f"arn:aws:resource-groups:{regional}:group"
    return {
        "aws:ec2/launchTemplate:LaunchTemplate": {
            "latestVersion": 1,
            "defaultVersion": 1,
            "name": name,
        },
        "aws:iam/role:Role": {"arn": f"arn:aws:iam::{ACCOUNT_ID}:role/{name}", "name": name},
        "aws:cloudwatch/logGroup:LogGroup": {
            "arn": f"arn:aws:logs:{regional}:log-group:{name}",
            "name": name,
        },
        "aws:iam/instanceProfile:InstanceProfile": {
            "arn": f"arn:aws:iam::{ACCOUNT_ID}:instance-profile/{name}",
            "name": name,
        },
        "aws:ec2/placementGroup:PlacementGroup": {"name": name},
        "aws:autoscaling/group:Group": {"name": name},
        "aws:eks/nodeGroup:NodeGroup": {
            "nodeGroupName": name,
            "status": "ACTIVE",
            "resources": [behind],
        },
        "aws:resourcegroups/group:Group": {"arn": f"{groups}/{inputs.get('name', name)}"},
        "aws:eks/accessEntry:AccessEntry": {"kubernetesGroups": ["system:nodes"]},
        "aws:fsx/lustreFileSystem:LustreFileSystem": {
            "dnsName": f"{name}.fsx.us-west-2.amazonaws.com",
            "mountName": "abcdefgh",
        },
        "aws:fsx/openZfsFileSystem:OpenZfsFileSystem": {
            "dnsName": f"{name}.fsx.us-west-2.amazonaws.com",
            "rootVolumeId": "fsvol-0123456789abcdef0",
        },
        "aws:ec2/keyPair:KeyPair": {"keyName": name},
        **_batch_outputs(name, inputs),
        "aws:cloudwatch/metricAlarm:MetricAlarm": {
            "arn": f"arn:aws:cloudwatch:{regional}:alarm:{name}",
            "name": name,
        },
        "aws:cloudwatch/eventRule:EventRule": {"name": name},
        "aws:sns/topic:Topic": {"arn": f"arn:aws:sns:{regional}:{name}", "name": name},
        "aws:s3/bucket:Bucket": {"arn": f"arn:aws:s3:::{name}-id", "bucket": f"{name}-id"},
        "aws:cloudformation/stack:Stack": {"outputs": _stack_outputs(inputs)},
    }


def _batch_outputs(name: str, inputs: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    arn = f"arn:aws:batch:us-west-2:{ACCOUNT_ID}"
    registry = f"{ACCOUNT_ID}.dkr.ecr.us-west-2.amazonaws.com"
    environment = f"{inputs.get('namePrefix', name)}20261121"
    named = inputs.get("name", name)
    return {
        "aws:batch/computeEnvironment:ComputeEnvironment": {
            "arn": f"{arn}:compute-environment/{environment}",
            "name": environment,
            "ecsClusterArn": f"arn:aws:ecs:us-west-2:{ACCOUNT_ID}:cluster/AWSBatch-{environment}",
        },
        "aws:batch/jobQueue:JobQueue": {"arn": f"{arn}:job-queue/{named}"},
        "aws:batch/jobDefinition:JobDefinition": {"arn": f"{arn}:job-definition/{named}:1"},
        "aws:ecr/repository:Repository": {"repositoryUrl": f"{registry}/{named}"},
    }


def _stack_outputs(inputs: Mapping[str, Any]) -> dict[str, str]:
    """Return a value for each output of a template: its name, or an id or address if it is one."""
    wanted = json.loads(inputs.get("templateBody") or "{}").get("Outputs", {})
    known = {
        "HeadNodeInstanceId": "i-0123456789abcdef0",
        "HeadNodePrivateIp": "10.0.0.10",
        "HeadNodePublicIp": "203.0.113.10",
        "ClusterStatus": "CREATE_COMPLETE",
        "ComputeFleetStatus": "RUNNING",
    }
    return {output: known.get(output, f"{output} of the stack") for output in wanted}


def _eks_cluster(inputs: Mapping[str, Any]) -> dict[str, Any]:
    endpoint = CONTROL_PLANE["endpoint"]
    kubeconfig = {"apiVersion": "v1", "clusters": [{"cluster": {"server": endpoint}}]}
    return {
        "eksCluster": {
            SIGNATURE_KEY: RESOURCE_SIGNATURE,
            "urn": CONTROL_PLANE_URN,
            "id": CONTROL_PLANE["id"],
            "packageVersion": "7.51.1",
        },
        "clusterSecurityGroupId": "sg-0c1u5te2000000000",
        "kubeconfig": kubeconfig,
        "kubeconfigJson": json.dumps(kubeconfig),
        "oidcProviderArn": f"arn:aws:iam::{ACCOUNT_ID}:oidc-provider/{inputs['name']}",
        "oidcProviderUrl": f"https://oidc.eks.us-west-2.amazonaws.com/id/{inputs['name']}",
    }
