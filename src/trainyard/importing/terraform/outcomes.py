"""What becomes of the keys of Terraform blocks that the conversion does not read."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.importing.formats import OF_TERRAFORM
from trainyard.importing.key_table import Keys
from trainyard.importing.report import Fate, OutcomeRow
from trainyard.importing.terraform.blocks import COMPUTED, KEYS

_BOOTSTRAP = "nodes start with the NodeConfig of the stack; run a DaemonSet for other settings"
_ROLES = (
    "the stack creates the roles; for pods, create IAM roles and Pod Identity associations after "
    "`up`"
)
_GROUPS = "nodes have the security groups of the cluster and of EFA"
_NAMES = "names begin with those of the cluster and the node group"
_TAGS = (
    "an object has the `tags` of the stack: set them there if all objects shall have them; add "
    "others to this one after `up`"
)
_TEMPLATE = "the stack writes the launch template, with the interfaces and the reservation"
_OPTION = "it says how Terraform works"

_OF_GROUPS: Mapping[str, tuple[Fate, str]] = {
    "ami_id": ("not supported", "nodes run the pinned AMI of EKS for their instance type"),
    "ami_release_version": ("not supported", "the stack pins the release of the AMI"),
    "use_latest_ami_release_version": ("not supported", "the stack pins the release of the AMI"),
    "platform": ("taken over better", "nodes run Amazon Linux 2023, whose AMIs have EFA"),
    "create": ("implied", "a stack has the node groups of its stack file"),
    "timeouts": ("dropped", _OPTION),
    "tags": ("not supported", _TAGS),
    "labels": ("implied", "the node group has no labels"),
    "taints": ("implied", "the node group has no taints"),
    "instance_market_options": ("not supported", "set `purchase_option` of the node group"),
    "capacity_type": ("implied", "the node group is On-Demand"),
    "capacity_reservation_specification": ("implied", "the node group has no reservation"),
    "subnet_ids": (
        "not supported",
        "the system node group launches in every private subnet of the network",
    ),
    "enable_efa_support": ("implied", "the node group has no EFA"),
    "enable_efa_only": ("implied", "the node group has no EFA"),
    "efa_indices": ("not supported", "all interfaces but the first have no IP addresses"),
    "create_placement_group": ("implied", "the node group has no placement group"),
    "placement_group_az": ("not supported", "set `availability_zone` of the node group"),
    "placement_group_strategy": ("not supported", "placement groups are cluster placement groups"),
    "placement": ("not supported", "a placement group of a stack is a cluster placement group"),
    "network_interfaces": ("not supported", "the stack writes the interfaces"),
    "node_repair_config": (
        "not supported",
        "set `auto_repair` and `maximum_parallel_repairs` of a node group",
    ),
    "remote_access": ("not supported", "set `ssh_key_name`, or use Session Manager"),
    "key_name": ("not supported", "the system node group has no key: use Session Manager"),
    "update_config": (
        "not supported",
        "the stack chooses the update of a node group by its capacity",
    ),
    "instance_refresh": ("not supported", "replace nodes with `./trainyard repair`"),
    "ebs_optimized": ("implied", "the instance types of a stack are EBS-optimized by default"),
    "enable_monitoring": (
        "not supported",
        "set `addons.cloudwatch_observability` or `monitoring`",
    ),
    "metadata_options": ("taken over better", "every node requires IMDSv2"),
    "block_device_mappings": (
        "not supported",
        "use a larger `root_volume`, the instance store (`local_nvme`) or `storage`",
    ),
    "disk_size": ("dropped", "`block_device_mappings` has the size of the volume"),
    "use_mixed_instances_policy": (
        "not supported",
        "a node group is On-Demand or Spot: make one for each",
    ),
    "mixed_instances_policy": (
        "not supported",
        "a node group is On-Demand or Spot: make one for each",
    ),
}
_PREFIXES: Mapping[str, tuple[Fate, str]] = {
    "iam_role": ("not supported", _ROLES),
    "create_iam": ("not supported", _ROLES),
    "iam_instance_profile": ("not supported", _ROLES),
    "create_access_entry": ("implied", "nodes are authorized by the stack"),
    "security_group": ("not supported", _GROUPS),
    "create_security_group": ("not supported", _GROUPS),
    "vpc_security_group_ids": ("not supported", _GROUPS),
    "attach_cluster_primary_security_group": ("not supported", _GROUPS),
    "launch_template": ("not supported", _TEMPLATE),
    "create_launch_template": ("not supported", _TEMPLATE),
    "use_custom_launch_template": ("not supported", _TEMPLATE),
    "update_launch_template": ("not supported", _TEMPLATE),
    "tag_specifications": ("implied", "instances, volumes and interfaces have the tags"),
    "use_name_prefix": ("not supported", _NAMES),
    "name": ("not supported", _NAMES),
    "cloudinit": ("not supported", _BOOTSTRAP),
    "pre_bootstrap": ("not supported", _BOOTSTRAP),
    "post_bootstrap": ("not supported", _BOOTSTRAP),
    "bootstrap": ("not supported", _BOOTSTRAP),
    "enable_bootstrap": ("not supported", _BOOTSTRAP),
    "user_data": ("not supported", _BOOTSTRAP),
    "kubernetes_version": ("taken over better", "nodes have the version of the cluster"),
    "cluster_": ("implied", "the node group is in the cluster of the stack"),
}
"""Keys of node groups by what they begin with."""
_OTHER_OPTION: tuple[Fate, str] = (
    "not supported",
    "the stack configures its instances and Auto Scaling groups itself",
)


_KEEP = "it is not part of the cluster: keep it in Terraform"
_OWN_KEY = "set `secrets_key_arn` to a key of your own"
_EFS = (
    "the nodes mount FSx for Lustre only: keep the file system in Terraform, and mount it with the "
    "add-on aws-efs-csi-driver"
)
_SUPPORTING: Mapping[str, tuple[Fate, str]] = {
    "aws_autoscaling_group": ("not supported", _OTHER_OPTION[1]),
    "aws_autoscaling_schedule": ("not supported", _OTHER_OPTION[1]),
    "aws_launch_configuration": ("not supported", _OTHER_OPTION[1]),
    "aws_cloudwatch_log_group": (
        "not supported",
        "set the retention of the log group in CloudWatch",
    ),
    "aws_ec2_tag": ("dropped", "it is a tag of an object that the stack does not have"),
    "aws_kms_key": ("not supported", _OWN_KEY),
    "aws_kms_alias": ("not supported", _OWN_KEY),
    **dict.fromkeys(
        (
            *("aws_iam_role", "aws_iam_role_policy", "aws_iam_role_policy_attachment"),
            *("aws_iam_policy", "aws_iam_instance_profile"),
        ),
        ("not supported", _ROLES),
    ),
    "aws_iam_openid_connect_provider": ("implied", "every cluster has an OIDC provider"),
    **dict.fromkeys(
        (
            *("aws_security_group", "aws_security_group_rule"),
            *("aws_vpc_security_group_egress_rule", "aws_vpc_security_group_ingress_rule"),
        ),
        ("not supported", _GROUPS),
    ),
    "aws_efs_file_system": ("not supported", _EFS),
    "aws_efs_mount_target": ("not supported", _EFS),
    "aws_efs_access_point": ("not supported", _EFS),
    "time_sleep": ("dropped", _OPTION),
    "null_resource": ("dropped", _OPTION),
}
"""Resources that belong to clusters and VPCs, by type."""
_OF_PLANS: Mapping[str, tuple[Fate, str]] = {
    "shown": ("implied", "it repeats the values of the resources, or says how Terraform works"),
    "empty": ("implied", "it has no value"),
    "computed": ("implied", "AWS sets it"),
    "user-data": ("not supported", _BOOTSTRAP),
    "later": (
        "not supported",
        "an attribute of another version of the provider is not read: look whether you need it",
    ),
}
"""Sections that only a plan or a state has."""


_PRINCIPALS = (
    "after `up`, create them with `aws eks create-access-entry` and "
    "`aws eks associate-access-policy`"
)
_IGNORED = "neither the module nor the stack reads it"

_EKS: Mapping[str, tuple[Fate, str]] = {
    "create": ("not supported", "a stack file is one cluster: delete it to have none"),
    "create_security_group": ("not supported", _GROUPS),
    "create_primary_security_group_tags": ("not supported", _GROUPS),
    "access_entries": ("not supported", _PRINCIPALS),
    "aws_auth": ("not supported", _PRINCIPALS),
    "manage_aws_auth": ("not supported", _PRINCIPALS),
    "create_aws_auth": ("not supported", _PRINCIPALS),
    "fargate_profile": ("not supported", "pods run on the system node group"),
    "identity_providers": (
        "not supported",
        "associate the provider after `up`: `aws eks associate-identity-provider-config`",
    ),
    "compute_config": ("not supported", "stacks have node groups: EKS Auto Mode has no EFA groups"),
    "kms": ("not supported", "set `secrets_key_arn` to a key of your own"),
    "create_kms": ("not supported", "set `secrets_key_arn` to a key of your own"),
    "enable_kms": ("not supported", "set `secrets_key_arn` to a key of your own"),
    "encryption": ("not supported", "set `secrets_key_arn` to a key of your own"),
    "cloudwatch_log_group_retention": ("not supported", "set `log_retention_days`"),
    "cloudwatch_log_group": (
        "not supported",
        "the log group has the standard class, the key of CloudWatch Logs and `tags` of the stack",
    ),
    "create_cloudwatch_log_group": (
        "implied",
        "the stack creates the log group of its control plane",
    ),
    "enable_efa_support": ("implied", "the stack opens the security group of nodes with EFA"),
    "enable_security_groups_for_pods": ("not supported", "pods have the groups of their node"),
    "bootstrap_self_managed_addons": (
        "taken over better",
        "VPC CNI, kube-proxy and CoreDNS are add-ons of EKS, which the stack installs",
    ),
    "enable_auto_mode": ("not supported", "stacks have node groups, not EKS Auto Mode"),
    "create_auto_mode": ("not supported", "stacks have node groups, not EKS Auto Mode"),
    "ip_family": ("not supported", "pods have IPv4 addresses of the VPC"),
    "create_cni_ipv6": ("not supported", "pods have IPv4 addresses of the VPC"),
    "service_ip": ("not supported", "services have the default addresses of EKS"),
    "remote_network_config": ("not supported", "stacks have no hybrid nodes"),
    "outpost": ("not supported", "stacks are in a region, not on an Outpost"),
    "create_outposts": ("not supported", "stacks are in a region, not on an Outpost"),
    "zonal_shift": (
        "not supported",
        "enable it after `up`: `aws eks update-cluster-config`",
    ),
    "upgrade_policy": ("not supported", "stacks keep the default of EKS, EXTENDED"),
    "control_plane_scaling": ("not supported", "EKS scales the control plane by its load"),
    "deletion_protection": (
        "not supported",
        "set it after `up`: `aws eks update-cluster-config --name CLUSTER --deletion-protection`",
    ),
    "force_update_version": ("dropped", _OPTION),
    "timeouts": ("dropped", _OPTION),
    "dataplane_wait": ("dropped", _OPTION),
    "putin_khuylo": ("dropped", "it has no effect"),
    "addons": ("not supported", "the stack configures its add-ons itself"),
    "node_security_group": ("not supported", _GROUPS),
    "create_node_security_group": ("not supported", _GROUPS),
    "additional_security_group": ("not supported", _GROUPS),
    "primary_security_group": ("not supported", _GROUPS),
    "security_group": ("not supported", _GROUPS),
    "vpc_id": ("not supported", "set `network.vpc_id`"),
    "subnet_ids": ("not supported", "set `network.private_subnet_ids`"),
    "control_plane_subnet_ids": (
        "not supported",
        "the control plane is in the subnets of the network",
    ),
    "region": ("implied", "it is `aws:region` of the stack file"),
    "partition": ("implied", "it follows from the region"),
    "account_id": ("implied", "it is that of your credentials"),
    "prefix_separator": ("not supported", _NAMES),
    "tags": ("not supported", _TAGS),
    "node_iam": ("not supported", _ROLES),
    "create_node_iam": ("not supported", _ROLES),
    "iam": ("not supported", _ROLES),
    "create_iam": ("not supported", _ROLES),
    "attach": ("not supported", _ROLES),
    "enable_irsa": ("implied", "every cluster has an OIDC provider"),
    "openid": ("implied", "every cluster has an OIDC provider"),
    "custom_oidc": ("implied", "every cluster has an OIDC provider"),
    "include_oidc": ("implied", "every cluster has an OIDC provider"),
}
"""Inputs of the module by what they begin with, without `cluster_`."""
_OTHER_INPUT: tuple[Fate, str] = ("not supported", "the stack has no key for it")

_SECTIONS: Mapping[str, tuple[Fate, str]] = {
    **_SUPPORTING,
    **_OF_PLANS,
    **{section: ("not supported", why) for section, why in OF_TERRAFORM.items()},
    "variable": ("implied", "its value is where the variable is used"),
    "locals": ("implied", "its value is where the local is used"),
    "local-module": ("implied", "the blocks of the module are read with these values"),
    "output": ("dropped", "`./trainyard outputs STACK` prints the outputs of a stack"),
    "provider": ("dropped", _OPTION),
    "terraform": ("dropped", _OPTION),
    "data": ("dropped", "it only looks something up for the blocks that use it"),
    "resource": ("not supported", _KEEP),
    "module": ("not supported", _KEEP),
    "other": ("dropped", _OPTION),
    "fargate-profile": ("not supported", "pods run on the system node group"),
    "karpenter": (
        "not supported",
        "install Karpenter after `up`; nodes of reservations are in node groups of fixed size",
    ),
    "hybrid-node-role": ("not supported", "stacks have no hybrid nodes"),
    "capability": ("not supported", "install Argo CD, ACK or kro after `up`"),
    "aws-auth": ("not supported", _PRINCIPALS),
    "aws_eks_access_entry": ("not supported", _PRINCIPALS),
    "aws_eks_access_policy_association": ("not supported", _PRINCIPALS),
    "aws_eks_pod_identity_association": ("not supported", _ROLES),
    "aws_eks_fargate_profile": ("not supported", "pods run on the system node group"),
    "aws_eks_addon": ("implied", "the stack installs the add-on in its cluster"),
    "aws_launch_template": ("not supported", _TEMPLATE),
    "aws_placement_group": ("implied", "the stack creates its placement groups"),
    "aws_ec2_capacity_reservation": ("not supported", _KEEP),
    "aws_ec2_capacity_block_reservation": ("not supported", _KEEP),
}
_STRATEGIES = ("strategy", "partition_count", "spread_level")
_META: tuple[Fate, str] = ("dropped", _OPTION)
_META_KEYS = (
    *("source", "version", "count", "for_each", "providers", "provider", "depends_on"),
    *("lifecycle", "provisioner", "timeouts"),
)
_COMPUTED = _OF_PLANS["computed"]
_TAGS_ALL: tuple[Fate, str] = ("implied", "they are `tags`, and those of the provider")
_OF_RESOURCES: Mapping[str, tuple[Fate, str]] = {
    **dict.fromkeys(COMPUTED, _COMPUTED),
    "tags_all": _TAGS_ALL,
}
"""Attributes that resources of several types have."""
_OF_CLUSTER: Mapping[str, tuple[Fate, str]] = {
    **dict.fromkeys(("arn", "certificate_authority", "created_at", "endpoint", "id"), _COMPUTED),
    **dict.fromkeys(("identity", "platform_version", "status", "cluster_id"), _COMPUTED),
    "tags_all": _TAGS_ALL,
    "role_arn": ("not supported", _ROLES),
    "vpc_config": ("not supported", _GROUPS),
    "access_config": ("not supported", _PRINCIPALS),
    "enabled_cluster_log_types": ("not supported", "set `log_types`"),
    "kubernetes_network_config": (
        "not supported",
        "services have the default addresses of EKS, and pods IPv4 addresses of the VPC",
    ),
    "storage_config": ("not supported", "stacks have node groups, not EKS Auto Mode"),
    "encryption_config": ("not supported", "set `secrets_key_arn`"),
    "default_addons_to_bootstrap_manually": ("implied", "the stack installs its add-ons"),
}
_OF_NODE_GROUP: Mapping[str, tuple[Fate, str]] = {
    **dict.fromkeys(("arn", "id", "resources", "status"), _COMPUTED),
    "tags_all": _TAGS_ALL,
    "cluster_name": ("implied", "the node group is in the cluster of the stack"),
    "node_role_arn": ("not supported", _ROLES),
    "launch_template": ("not supported", _TEMPLATE),
    "scaling_config": ("not supported", "set `minimum`, `desired` and `maximum`"),
    "instance_types": ("not supported", "set `instance_type`"),
    "release_version": ("not supported", "the stack pins the release of the AMI"),
    "version": ("taken over better", "nodes have the version of the cluster"),
    "taint": ("dropped", "the system node group has no taints"),
    "ami_type": ("implied", "nodes run Amazon Linux 2023"),
    "force_update_version": ("dropped", _OPTION),
}


def _by_prefix(
    key: str, table: Mapping[str, tuple[Fate, str]], other: tuple[Fate, str]
) -> tuple[Fate, str]:
    """Return the row of the longest beginning of a key."""
    found = [each for each in table if key.startswith(each)]
    return table[max(found, key=len)] if found else other


def _row(section: str, key: str) -> tuple[Fate, str]:
    if key in _META_KEYS and not section.startswith("aws_"):
        return _META
    if section == "eks":
        plain = key if key in _EKS else key.removeprefix("cluster_")
        return _by_prefix(plain, _EKS, _OTHER_INPUT)
    if section in ("eks-managed-node-group", "self-managed-node-group"):
        return _OF_GROUPS.get(key) or _by_prefix(key, _PREFIXES, _OTHER_OPTION)
    if section == "aws_eks_cluster":
        return _OF_CLUSTER.get(key) or _by_prefix(key, _EKS, _OTHER_INPUT)
    if section == "aws_eks_node_group":
        return _OF_NODE_GROUP.get(key) or _OF_GROUPS.get(key, _OTHER_OPTION)
    if section == "aws_placement_group" and key in _STRATEGIES:
        return "not supported", "placement groups of a stack are cluster placement groups"
    return (
        _OF_RESOURCES.get(key, _SECTIONS[section]) if section[:4] == "aws_" else _SECTIONS[section]
    )


def table() -> Mapping[Keys, OutcomeRow]:
    """Return the row of every key."""
    rows: dict[tuple[str, ...], OutcomeRow] = {}
    for keys in KEYS.kinds:
        section, *rest = keys
        if not rest:
            if section in _SECTIONS:
                rows[keys] = OutcomeRow(*_SECTIONS[section])
        elif len(rest) == 1:
            rows[keys] = OutcomeRow(*_row(section, rest[0]))
        elif section == "eks":
            rows[keys] = OutcomeRow(
                *(_OF_GROUPS.get(rest[1]) or _by_prefix(rest[1], _PREFIXES, _OTHER_OPTION))
            )
    for groups in ("eks_managed_node_group", "self_managed_node_group"):
        rows["eks", f"{groups}s"] = OutcomeRow("dropped", _IGNORED)
        rows["eks", f"{groups}_defaults"] = OutcomeRow("dropped", _IGNORED)
    return rows
