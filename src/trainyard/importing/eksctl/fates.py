"""What becomes of the keys of an eksctl `ClusterConfig` that the conversion does not read."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.importing.report import Fate, FateRow

_ROLES = (
    "the stack creates the roles; for pods, create IAM roles and Pod Identity associations after "
    "`up`"
)
_PRINCIPALS = (
    "after `up`, create them with `aws eks create-access-entry` and "
    "`aws eks associate-access-policy`"
)
_GROUPS = ("managedNodeGroups", "nodeGroups")
_BOOTSTRAP = "nodes start with the NodeConfig of the stack; run a DaemonSet for other settings"
_TAGS = "set `tags` of the stack, which all resources get"
_NAMES = "names begin with those of the cluster and the node group"
_MIX = "a node group is On-Demand or Spot: make one for each"

_OF_GROUPS: Mapping[str, tuple[Fate, str]] = {
    "additionalVolumes": (
        "not supported",
        "use a larger `root_volume`, the instance store (`local_nvme`) or `storage`",
    ),
    "ami": ("not supported", "nodes run the pinned AMI of EKS for their instance type"),
    "amiFamily": ("not supported", "nodes run Amazon Linux 2023"),
    "asgSuspendProcesses": ("not supported", "Auto Scaling runs all processes"),
    "availabilityZones": ("dropped", "the system node group is in every zone"),
    "subnets": ("dropped", "the system node group is in every private subnet"),
    "bottlerocket": ("not supported", "nodes run Amazon Linux 2023"),
    "capacityReservation": ("implied", "the node group has no reservation"),
    "instanceMarketOptions": ("not supported", "set `purchase_option` of the node group"),
    "disableIMDSv1": ("taken over better", "every node requires IMDSv2"),
    "disablePodIMDS": ("dropped", "pods reach the metadata of their node only if they need it"),
    "ebsOptimized": ("dropped", "the instance types of a stack are EBS-optimized by default"),
    "efaEnabled": ("implied", "the system node group has no EFA"),
    "enableDetailedMonitoring": (
        "not supported",
        "set `addons.cloudwatch_observability` or `monitoring`",
    ),
    "iam": ("not supported", _ROLES),
    "instanceName": ("dropped", _NAMES),
    "instancePrefix": ("dropped", _NAMES),
    "instanceSelector": ("not supported", "set `instance_type` to the type that you want"),
    "maxPodsPerNode": ("not supported", "the NodeConfig sets the maximum of the instance type"),
    "outpostARN": ("not supported", "stacks are in a region, not on an Outpost"),
    "overrideBootstrapCommand": ("not supported", _BOOTSTRAP),
    "preBootstrapCommands": ("not supported", _BOOTSTRAP),
    "placement": ("not supported", "a placement group of a stack is a cluster placement group"),
    "propagateASGTags": ("dropped", "the Cluster Autoscaler reads labels and taints of EKS"),
    "securityGroups": ("not supported", "nodes have the groups of the cluster and of EFA"),
    "ssh": ("not supported", "set `ssh_key_name` of the node group, or use Session Manager"),
    "tags": ("not supported", _TAGS),
    "taints": ("dropped", "the system node group has no taints"),
    "updateConfig": (
        "not supported",
        "the stack chooses the update of a node group by its capacity",
    ),
    "volumeKmsKeyID": (
        "not supported",
        "volumes are encrypted with the default EBS key of the account",
    ),
    "volumeName": ("dropped", "the AMI names its root volume"),
}
"""Keys of both kinds of node groups."""

_ROWS: Mapping[str, tuple[Fate, str]] = {
    "metadata.annotations": ("dropped", "eksctl keeps them for itself"),
    "metadata.forceUpdateVersion": ("dropped", "it is an option of an upgrade by eksctl"),
    "metadata.rollbackConfig": ("dropped", "it is an option of an upgrade by eksctl"),
    "metadata.region": ("implied", "`aws:region` of the stack file"),
    "accessConfig": ("not supported", _PRINCIPALS),
    "iamIdentityMappings": ("not supported", _PRINCIPALS),
    "identityProviders": (
        "not supported",
        "associate the provider after `up`: `aws eks associate-identity-provider-config`",
    ),
    "addons": ("not supported", "the stack configures its add-ons itself"),
    "addonsConfig": (
        "dropped",
        "the stack installs VPC CNI, kube-proxy and CoreDNS, with roles through Pod Identity",
    ),
    "autoModeConfig": ("not supported", "stacks have node groups: EKS Auto Mode has no EFA groups"),
    "availabilityZones": ("not supported", "set `availability_zones` of the network"),
    "capabilities": ("not supported", "install Argo CD, ACK or kro after `up`"),
    "cloudWatch": ("not supported", "set `log_types` and `log_retention_days`"),
    "controlPlaneScalingConfig": ("not supported", "EKS scales the control plane by its load"),
    "fargateProfiles": ("not supported", "pods run on the system node group"),
    "gitops": ("not supported", "install Flux after `up`"),
    "iam": ("not supported", _ROLES),
    "karpenter": (
        "not supported",
        "install Karpenter after `up`; nodes of reservations are in node groups of fixed size",
    ),
    "kubeAPIServerConfig": ("not supported", "EKS configures the control plane"),
    "kubeControllerManagerConfig": ("not supported", "EKS configures the control plane"),
    "kubeSchedulerConfig": ("not supported", "EKS configures the control plane"),
    "kubernetesNetworkConfig": (
        "not supported",
        "services have the default addresses of EKS, and pods IPv4 addresses of the VPC",
    ),
    "localZones": ("not supported", "stacks are in the zones of a region"),
    "outpost": ("not supported", "stacks are in a region, not on an Outpost"),
    "privateCluster": (
        "not supported",
        "add the endpoints to your VPC, or let the stack create it (`kind: new-vpc`)",
    ),
    "remoteNetworkConfig": ("not supported", "stacks have no hybrid nodes"),
    "upgradePolicy": ("not supported", "stacks keep the default of EKS, EXTENDED"),
    "vpc": ("not supported", "the stack creates its own security groups and IPv4 subnets"),
    "zonalShiftConfig": ("not supported", "enable it after `up`: `aws eks update-cluster-config`"),
    **{f"{group}.{key}": row for group in _GROUPS for key, row in _OF_GROUPS.items()},
    "managedNodeGroups.spot": ("implied", "the system node group is On-Demand"),
    "managedNodeGroups.nodeRepairConfig": (
        "not supported",
        "set `auto_repair` and `maximum_parallel_repairs` of a node group",
    ),
    "managedNodeGroups.launchTemplate": (
        "not supported",
        "the stack writes the launch template, with the interfaces and the reservation",
    ),
    "managedNodeGroups.releaseVersion": ("not supported", "the stack pins the release of the AMI"),
    "nodeGroups.asgMetricsCollection": ("dropped", "`monitoring` enables the group metrics"),
    "nodeGroups.classicLoadBalancerNames": ("not supported", "create a Kubernetes Service"),
    "nodeGroups.targetGroupARNs": ("not supported", "create a Kubernetes Service"),
    "nodeGroups.clusterDNS": ("not supported", _BOOTSTRAP),
    "nodeGroups.kubeletExtraConfig": ("not supported", _BOOTSTRAP),
    "nodeGroups.containerRuntime": ("implied", "nodes run containerd"),
    "nodeGroups.cpuCredits": ("not supported", "choose an instance type without CPU credits"),
    "nodeGroups.enclaveEnabled": ("not supported", "nodes have no Nitro Enclaves"),
    "nodeGroups.instancesDistribution": ("not supported", _MIX),
    "nodeGroups.localZones": ("not supported", "stacks are in the zones of a region"),
    "nodeGroups.maxInstanceLifetime": ("not supported", "replace nodes with `./trainyard repair`"),
}
"""Rows by the path of the key."""

FATES: Mapping[tuple[str, ...], FateRow] = {
    tuple(path.split(".")): FateRow(*row) for path, row in _ROWS.items()
}
