"""What becomes of the answers about an EKS cluster that the conversion does not read."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.importing.eksctl.fates import FATES as OF_EKSCTL
from trainyard.importing.report import Fate, FateRow

_STATE = "it is the state of the cluster that runs, not its configuration"
_ITS_OWN = "the new cluster has its own"
_TAGS = "resources have `tags` of the stack"
_GROUPS = (
    "the stack creates the security groups of the cluster and of its nodes; add rules for other "
    "sources to them"
)
_CLUSTER, _NODES, _ADDON, _ENTRY = (
    "DescribeCluster",
    "DescribeNodegroup",
    "DescribeAddon",
    "DescribeAccessEntry",
)
_SCALING, _TEMPLATE = "DescribeAutoScalingGroups", "DescribeLaunchTemplateVersions"
_DATA = f"{_TEMPLATE}.LaunchTemplateData"


def _of_eksctl(path: str) -> FateRow:
    return OF_EKSCTL[tuple(path.split("."))]


_ROWS: Mapping[str, tuple[Fate, str]] = {
    **{
        f"{_CLUSTER}.{key}": ("dropped", _STATE)
        for key in ("arn", "createdAt", "status", "health", "id", "clientRequestToken")
    },
    **{
        f"{_CLUSTER}.{key}": ("dropped", _ITS_OWN)
        for key in ("endpoint", "certificateAuthority", "identity", "platformVersion", "roleArn")
    },
    f"{_CLUSTER}.accessConfig": _of_eksctl("accessConfig"),
    f"{_CLUSTER}.computeConfig": _of_eksctl("autoModeConfig"),
    f"{_CLUSTER}.connectorConfig": ("not supported", "stacks are clusters that EKS runs"),
    f"{_CLUSTER}.controlPlaneScalingConfig": _of_eksctl("controlPlaneScalingConfig"),
    f"{_CLUSTER}.deletionProtection": (
        "not supported",
        "enable it after `up`: `aws eks update-cluster-config`",
    ),
    f"{_CLUSTER}.encryptionConfig": ("implied", "the key encrypts secrets"),
    f"{_CLUSTER}.kubeApiServerConfig": _of_eksctl("kubeAPIServerConfig"),
    f"{_CLUSTER}.kubeControllerManagerConfig": _of_eksctl("kubeControllerManagerConfig"),
    f"{_CLUSTER}.kubeSchedulerConfig": _of_eksctl("kubeSchedulerConfig"),
    f"{_CLUSTER}.kubernetesNetworkConfig": _of_eksctl("kubernetesNetworkConfig"),
    f"{_CLUSTER}.logging": ("implied", "the stack sends only the types of `log_types`"),
    f"{_CLUSTER}.outpostConfig": _of_eksctl("outpost"),
    f"{_CLUSTER}.remoteNetworkConfig": _of_eksctl("remoteNetworkConfig"),
    f"{_CLUSTER}.resourcesVpcConfig.clusterSecurityGroupId": ("dropped", _ITS_OWN),
    f"{_CLUSTER}.resourcesVpcConfig.securityGroupIds": ("not supported", _GROUPS),
    f"{_CLUSTER}.resourcesVpcConfig.controlPlaneEgressMode": (
        "not supported",
        "the control plane reaches other services as EKS does it by default",
    ),
    f"{_CLUSTER}.resourcesVpcConfig.subnetIds": (
        "dropped",
        "the subnet could not be read, or does not exist",
    ),
    f"{_CLUSTER}.storageConfig": _of_eksctl("autoModeConfig"),
    f"{_CLUSTER}.tags": ("dropped", _TAGS),
    f"{_CLUSTER}.upgradePolicy": (
        "dropped",
        "it only decides what EKS does when standard support ends; stacks do not change it",
    ),
    f"{_CLUSTER}.zonalShiftConfig": _of_eksctl("zonalShiftConfig"),
    **{
        f"{_NODES}.{key}": ("dropped", _STATE)
        for key in (
            *("nodegroupArn", "clusterName", "createdAt", "modifiedAt", "status", "health"),
            "resources",
        )
    },
    f"{_NODES}.amiType": _of_eksctl("managedNodeGroups.ami"),
    f"{_NODES}.capacityType": ("implied", "nodes are On-Demand without `purchase_option`"),
    f"{_NODES}.launchTemplate": ("implied", "the template is in the report with its own fields"),
    f"{_NODES}.nodeRepairConfig": (
        "not supported",
        "EKS repairs nodes with its default thresholds; set `maximum_parallel_repairs`",
    ),
    f"{_NODES}.nodeRole": ("implied", "the stack creates the role of the nodes"),
    f"{_NODES}.releaseVersion": ("dropped", "the stack pins the release of the AMI"),
    f"{_NODES}.remoteAccess": ("not supported", _GROUPS),
    f"{_NODES}.tags": ("dropped", _TAGS),
    f"{_NODES}.updateConfig": (
        "dropped",
        "the stack chooses the update of a node group by its capacity",
    ),
    f"{_NODES}.version": ("implied", "nodes have the version of the cluster"),
    f"{_NODES}.warmPoolConfig": ("not supported", "the stack has no warm pools"),
    **{
        f"{_ADDON}.{key}": ("dropped", _STATE)
        for key in (
            *("clusterName", "status", "health", "addonArn", "createdAt", "modifiedAt"),
            *("publisher", "owner", "marketplaceInformation"),
        )
    },
    f"{_ADDON}.namespaceConfig": ("implied", "it is the namespace of the add-on"),
    f"{_ADDON}.tags": ("dropped", _TAGS),
    _ENTRY: _of_eksctl("accessConfig"),
    **{
        f"{_ENTRY}.{key}": ("dropped", _STATE)
        for key in ("clusterName", "accessEntryArn", "createdAt", "modifiedAt")
    },
    "ListFargateProfiles": _of_eksctl("fargateProfiles"),
    "ListPodIdentityAssociations": _of_eksctl("iam"),
    "ListIdentityProviderConfigs": _of_eksctl("identityProviders"),
    _SCALING: (
        "not supported",
        "a self-managed node group has sizes, subnets and a launch template",
    ),
    **{
        f"{_SCALING}.{key}": ("dropped", _STATE)
        for key in (
            *("AutoScalingGroupARN", "CreatedTime", "Instances", "Status", "PredictedCapacity"),
            *("AvailabilityZones", "AvailabilityZoneIds", "WarmPoolSize", "Operator"),
        )
    },
    **{
        f"{_SCALING}.{key}": ("dropped", "the stack has the default of EC2 Auto Scaling")
        for key in (
            *("DefaultCooldown", "HealthCheckType", "HealthCheckGracePeriod"),
            *("TerminationPolicies", "ServiceLinkedRoleARN", "DesiredCapacityType"),
            *("NewInstancesProtectedFromScaleIn", "CapacityRebalance", "DefaultInstanceWarmup"),
            *("AvailabilityZoneDistribution", "AvailabilityZoneImpairmentPolicy", "Context"),
            *("InstanceMaintenancePolicy", "TrafficSources", "DeletionProtection"),
            "InstanceLifecyclePolicy",
        )
    },
    f"{_SCALING}.EnabledMetrics": ("dropped", "`monitoring` enables the group metrics"),
    f"{_SCALING}.LaunchTemplate": ("implied", "the template is in the report with its own fields"),
    f"{_SCALING}.MixedInstancesPolicy": _of_eksctl("nodeGroups.instancesDistribution"),
    f"{_SCALING}.SuspendedProcesses": _of_eksctl("nodeGroups.asgSuspendProcesses"),
    f"{_SCALING}.Tags": ("dropped", _TAGS),
    _TEMPLATE: ("implied", "it is the version that nodes launch with"),
    _DATA: (
        "not supported",
        "the stack writes the launch template, with the interfaces and the reservation",
    ),
    f"{_DATA}.IamInstanceProfile": (
        "implied",
        "the stack creates the role and the instance profile",
    ),
    f"{_DATA}.ImageId": _of_eksctl("nodeGroups.ami"),
    f"{_DATA}.NetworkInterfaces": ("dropped", _GROUPS),
    f"{_DATA}.SecurityGroupIds": ("dropped", _GROUPS),
    f"{_DATA}.TagSpecifications": ("dropped", _TAGS),
    f"{_DATA}.UserData.scripts": _of_eksctl("nodeGroups.preBootstrapCommands"),
    f"{_DATA}.UserData.labels": ("dropped", "EKS sets the labels of managed node groups"),
    f"{_DATA}.UserData.taints": ("dropped", "EKS sets the taints of managed node groups"),
    "DescribeCapacityReservations": ("implied", "`check --live` compares the reservation"),
    "DescribeFileSystems": ("implied", "an adopted file system keeps it"),
    "DescribeLogGroups": (
        "implied",
        "the stack creates a log group with the name of its cluster, or adopts it as it is",
    ),
    "DescribeVpcs": ("implied", "the stack uses the VPC and does not change it"),
    "DescribeSubnets": ("implied", "it says whether the subnet is private"),
    "GetInstanceProfile": ("implied", "it is the role of self-managed nodes"),
    "ListAttachedRolePolicies": ("implied", "the policies of the role follow"),
    "GetRolePolicy": (
        "not supported",
        "stacks attach policies by name: make a managed policy, and name it in `iam_policies`",
    ),
    "GetRolePolicy.RoleName": ("implied", "the stack creates the role of the nodes"),
}
"""Rows by the path of the key."""

FATES: Mapping[tuple[str, ...], FateRow] = {
    tuple(path.split(".")): FateRow(*row) for path, row in _ROWS.items()
}
