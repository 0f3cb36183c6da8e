"""Programs with clusters of EKS, and with EFA: pools of every kind, interfaces and plugins."""

from __future__ import annotations

from typing import Any

from tests.support.policy import UNKNOWN, Declared, Program
from tests.support.policy_programs import (
    EFA_NETWORK,
    auto_scaling_group,
    node_group,
    slurm_queues,
    template,
)
from trainyard.policies.resources.types import (
    AUTO_SCALING_GROUP,
    BATCH_COMPUTE_ENVIRONMENT,
    CONFIG_MAP,
    CONFIG_MAP_PATCH,
    DAEMON_SET,
    EC2_FLEET,
    EKS_ADDON,
    EKS_CLUSTER,
    EKS_NODE_GROUP,
    HELM_RELEASE,
    IAM_ROLE,
    INSTANCE,
    LAUNCH_TEMPLATE,
    NETWORK_INTERFACE,
    PLACEMENT_GROUP,
    SPOT_FLEET_REQUEST,
    SUBNET,
    VPC,
)

TRUST = '{"Version": "2012-10-17", "Statement": []}'


def vpc(name: str = "vpc", **changes: Any) -> Declared:
    """Return a VPC with DNS support."""
    props = {"cidrBlock": "10.0.0.0/16", "enableDnsHostnames": True, **changes}
    return Declared(VPC, name, props)


def subnet(name: str, zone: str, network: str = "vpc") -> Declared:
    """Return a subnet of a VPC of the program."""
    props = {"id": f"{name}-id", "vpcId": UNKNOWN, "availabilityZone": zone}
    return Declared(SUBNET, name, props, {"vpcId": [network]})


def cluster(subnets: list[str], **changes: Any) -> Declared:
    """Return a cluster with named networks, an audit log and these subnets, by name."""
    vpc_config = {
        "subnetIds": [f"{name}-id" for name in subnets],
        "publicAccessCidrs": ["192.0.2.0/24"],
        **changes.pop("vpcConfig", {}),
    }
    props = {"vpcConfig": vpc_config, "enabledClusterLogTypes": ["audit"], **changes}
    return Declared(EKS_CLUSTER, "cluster", props, {"vpcConfig": list(subnets)})


def role(name: str) -> Declared:
    """Return a role of nodes."""
    return Declared(IAM_ROLE, name, {"assumeRolePolicy": TRUST})


def eks_template(**changes: Any) -> Declared:
    """Return a launch template for nodes of EKS without EFA."""
    props = {
        "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2},
        **changes,
    }
    return Declared(LAUNCH_TEMPLATE, "workers-template", props)


def workers(**changes: Any) -> Declared:
    """Return a managed node group with that template and the role `node-role`."""
    props = {
        "launchTemplate": {"id": UNKNOWN, "version": UNKNOWN},
        "nodeRoleArn": UNKNOWN,
        "subnetIds": ["subnet-0b000000000000002"],
        "scalingConfig": {"minSize": 0, "desiredSize": 2, "maxSize": 2},
        **changes,
    }
    depends = {"launchTemplate": ["workers-template"], "nodeRoleArn": ["node-role"]}
    return Declared(EKS_NODE_GROUP, "workers", props, depends)


def joining_group() -> Declared:
    """Return an Auto Scaling group with that template, whose nodes join a cluster."""
    tag = {"key": "kubernetes.io/cluster/training", "value": "owned", "propagateAtLaunch": True}
    props = {
        "launchTemplate": {"id": UNKNOWN, "version": UNKNOWN},
        "vpcZoneIdentifiers": ["subnet-0b000000000000002"],
        "tags": [tag],
    }
    return Declared(
        AUTO_SCALING_GROUP, "self-managed", props, {"launchTemplate": ["workers-template"]}
    )


def aws_auth(*roles: str, patch: bool = False, **metadata: Any) -> Declared:
    """Return the ConfigMap aws-auth with these roles, or a patch of it."""
    props = {
        "metadata": {"name": "aws-auth", "namespace": "kube-system", **metadata},
        "data": {"mapRoles": UNKNOWN},
    }
    type_ = CONFIG_MAP_PATCH if patch else CONFIG_MAP
    return Declared(type_, "aws-auth", props, {"data": list(roles)})


PLUGIN_IMAGE = "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.20"
DRIVER_IMAGE = "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/dranet:v1.2.0-eksbuild.2"
INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type"

TOGETHER = Declared(
    PLACEMENT_GROUP, "together", {"strategy": "cluster", "name": UNKNOWN, "tags": {"Team": "ml"}}
)


def on_demand(*without: str, **changes: Any) -> Declared:
    """Return the p5 launch template without a Capacity Block."""
    gone = ("instanceMarketOptions", "capacityReservationSpecification", *without)
    return template(*gone, **changes)


def placed(made: Declared, name: str = "together") -> Declared:
    """Return a launch template in the placement group of a program."""
    props = {**made.props, "placement": {"groupName": UNKNOWN}}
    return Declared(made.type, made.name, props, {**made.depends, "placement": [name]})


def plain(*without: str, **changes: Any) -> Declared:
    """Return the p5 launch template without a network interface of EFA."""
    return on_demand("networkInterfaces", *without, **changes)


def scaled(made: Declared, maximum: int) -> Declared:
    """Return an Auto Scaling group or node group with this maximum size."""
    key, value = ("maxSize", maximum)
    if made.type == node_group().type:
        key, value = "scalingConfig", {"minSize": 0, "desiredSize": 0, "maxSize": maximum}
    return Declared(made.type, made.name, {**made.props, key: value}, made.depends)


def on_demand_nodes(**changes: Any) -> Declared:
    """Return a managed node group of the p5 template, On-Demand, of at most four nodes."""
    return scaled(node_group(**{"capacityType": "ON_DEMAND", **changes}), 4)


def asg(maximum: int = 4, **changes: Any) -> Declared:
    """Return an Auto Scaling group of the p5 template."""
    return scaled(auto_scaling_group(**changes), maximum)


def environment(**changes: Any) -> Declared:
    """Return a compute environment of Batch with the p5 template."""
    resources = {
        "type": "EC2",
        "allocationStrategy": "BEST_FIT_PROGRESSIVE",
        "instanceTypes": ["p5.48xlarge"],
        "launchTemplate": {"launchTemplateId": UNKNOWN, "version": UNKNOWN},
        "maxVcpus": 768,
        "subnets": ["subnet-0b000000000000002"],
        **changes,
    }
    props = {"type": "MANAGED", "computeResources": resources}
    return Declared(
        BATCH_COMPUTE_ENVIRONMENT, "batch-p5", props, {"computeResources": ["p5-template"]}
    )


def fleet(*overrides: dict[str, Any], spot: bool = False) -> Declared:
    """Return a fleet of four nodes of the p5 template, or a Spot Fleet."""
    by_id = {"id": UNKNOWN} if spot else {"launchTemplateId": UNKNOWN}
    config = {"launchTemplateSpecification": {**by_id, "version": UNKNOWN}}
    configs = [{**config, "overrides": list(overrides)}]
    depends = {"launchTemplateConfigs": ["p5-template"]}
    if spot:
        props = {"targetCapacity": 4, "launchTemplateConfigs": configs}
        return Declared(SPOT_FLEET_REQUEST, "p5-spot", props, depends)
    target = {"defaultTargetCapacityType": "on-demand", "totalTargetCapacity": 4}
    props = {"targetCapacitySpecification": target, "launchTemplateConfigs": configs}
    return Declared(EC2_FLEET, "p5-fleet", props, depends)


def mixed(*types: str, **changes: Any) -> Declared:
    """Return an Auto Scaling group of several types from the p5 template."""
    specification = {"launchTemplateId": UNKNOWN, "version": UNKNOWN}
    policy = {
        "launchTemplate": {
            "launchTemplateSpecification": specification,
            "overrides": [{"instanceType": name} for name in types],
        }
    }
    made = asg(mixedInstancesPolicy=policy, **changes)
    props = {key: value for key, value in made.props.items() if key != "launchTemplate"}
    return Declared(made.type, made.name, props, {"mixedInstancesPolicy": ["p5-template"]})


def zonal_subnet(name: str, zone: str = "us-west-2b", **changes: Any) -> Declared:
    """Return a subnet of the program, whose id is known."""
    return Declared(
        SUBNET,
        name,
        {"id": f"{name}-id", "availabilityZone": zone, "cidrBlock": "10.0.0.0/20", **changes},
    )


def own_interface(name: str, kind: str | None = "efa", **changes: Any) -> Declared:
    """Return a network interface as a separate resource, in the EFA group."""
    props = {"subnetId": "subnet-0b000000000000002", "securityGroups": [UNKNOWN], **changes}
    if kind:
        props["interfaceType"] = kind
    props["id"] = f"{name}-id"
    return Declared(NETWORK_INTERFACE, name, props, {"securityGroups": ["efa"]})


def instance(*places: tuple[str, int, int], **changes: Any) -> Declared:
    """Return a p5 instance with separate interfaces at (name, card, device)."""
    listed = [
        {"networkInterfaceId": f"{name}-id", "networkCardIndex": card, "deviceIndex": device}
        for name, card, device in places
    ]
    props = {
        "instanceType": "p5.48xlarge",
        "ami": "ami-0123456789abcdef0",
        "networkInterfaces": listed,
        "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 1},
        "rootBlockDevice": {"encrypted": True},
        **changes,
    }
    return Declared(INSTANCE, "node", props)


def plugin(
    *types: str, image: str = PLUGIN_IMAGE, name: str = "efa-plugin", **pod: Any
) -> Declared:
    """Return the DaemonSet of the EFA plugin, for some instance types, or for all."""
    term = {"matchExpressions": [_in(INSTANCE_TYPE_LABEL, types)]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    affinity = {"affinity": {"nodeAffinity": required}} if types else {}
    spec = {"containers": [{"name": "plugin", "image": image}], **affinity, **pod}
    props = {
        "metadata": {"name": name, "namespace": "kube-system"},
        "spec": {"selector": {}, "template": {"spec": spec}},
    }
    return Declared(DAEMON_SET, name, props)


def release(chart: str = "aws-efa-k8s-device-plugin", **changes: Any) -> Declared:
    """Return a Helm release of a chart of AWS."""
    repository = {"repo": "https://aws.github.io/eks-charts"}
    props = {"chart": chart, "version": "v0.5.30", "repositoryOpts": repository, **changes}
    return Declared(HELM_RELEASE, "efa-chart", {**props, "namespace": "kube-system"})


def addon(version: str, name: str = "vpc-cni") -> Declared:
    """Return an add-on of EKS."""
    props = {"addonName": name, "addonVersion": version, "clusterName": "training"}
    return Declared(EKS_ADDON, name, props)


def private_cluster(name: str = "training", **changes: Any) -> Declared:
    """Return an EKS cluster whose endpoint is private, and which logs."""
    props = {
        "version": "1.35",
        "vpcConfig": {"endpointPublicAccess": False, "subnetIds": ["subnet-a", "subnet-b"]},
        "enabledClusterLogTypes": ["api", "audit", "authenticator"],
        **changes,
    }
    return Declared(EKS_CLUSTER, name, props)


def efa_cluster(*more: Declared, nodes: Declared | None = None) -> Program:
    """Return a cluster with a managed node group of p5 nodes in a Capacity Block, and more."""
    return (private_cluster(), template(), nodes or node_group(), *EFA_NETWORK, *more)


def queue(*, networking: dict[str, Any] | None = None, **nodes: Any) -> Declared:
    """Return a ParallelCluster whose only compute resource has these settings."""
    resource = {"Name": "distributed-ml", "InstanceType": "p5.48xlarge", "MaxCount": 4, **nodes}
    return slurm_queues(
        {
            "Name": "compute-gpu",
            "CapacityType": "ONDEMAND",
            "Networking": {"SubnetIds": ["subnet-a"], **(networking or {})},
            "ComputeResources": [resource],
        }
    )


def _in(key: str, values: tuple[str, ...]) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": list(values)}
