"""What becomes of the keys of Terraform blocks that the conversion does not read."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.importing.cloudformation.fates import TYPES
from trainyard.importing.report import Fate, FateRow
from trainyard.importing.terraform.group_fates import (
    GROUPS,
    NAMES,
    OF_GROUPS,
    OPTION,
    OTHER_OPTION,
    PREFIXES,
    ROLES,
    TAGS,
    TEMPLATE,
)
from trainyard.importing.terraform.keys import KEYS
from trainyard.importing.terraform.resource_fates import COMPUTED, KEEP, OF_PLANS, SUPPORTING

_PRINCIPALS = (
    "after `up`, create them with `aws eks create-access-entry` and "
    "`aws eks associate-access-policy`"
)
_IGNORED = "neither the module nor the stack reads it"

_EKS: Mapping[str, tuple[Fate, str]] = {
    "create": ("implied", "a stack file is one cluster"),
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
    "enable_security_groups_for_pods": ("dropped", "the stack does not use them"),
    "bootstrap_self_managed_addons": ("implied", "the stack installs its add-ons"),
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
    "force_update_version": ("dropped", OPTION),
    "timeouts": ("dropped", OPTION),
    "dataplane_wait": ("dropped", OPTION),
    "putin_khuylo": ("dropped", "it has no effect"),
    "addons": ("not supported", "the stack configures its add-ons itself"),
    "node_security_group": ("not supported", GROUPS),
    "create_node_security_group": ("not supported", GROUPS),
    "additional_security_group": ("not supported", GROUPS),
    "primary_security_group": ("not supported", GROUPS),
    "security_group": ("not supported", GROUPS),
    "vpc_id": ("not supported", "set `network.vpc_id`"),
    "subnet_ids": ("not supported", "set `network.private_subnet_ids`"),
    "control_plane_subnet_ids": ("dropped", "the control plane is in the subnets of the network"),
    "region": ("implied", "it is `aws:region` of the stack file"),
    "partition": ("implied", "it follows from the region"),
    "account_id": ("implied", "it is that of your credentials"),
    "prefix_separator": ("dropped", NAMES),
    "tags": ("not supported", TAGS),
    "node_iam": ("not supported", ROLES),
    "create_node_iam": ("not supported", ROLES),
    "iam": ("not supported", ROLES),
    "create_iam": ("not supported", ROLES),
    "attach": ("not supported", ROLES),
    "enable_irsa": ("implied", "every cluster has an OIDC provider"),
    "openid": ("implied", "every cluster has an OIDC provider"),
    "custom_oidc": ("implied", "every cluster has an OIDC provider"),
    "include_oidc": ("implied", "every cluster has an OIDC provider"),
}
"""Inputs of the module by what they begin with, without `cluster_`."""
_OTHER_INPUT: tuple[Fate, str] = ("not supported", "the stack has no key for it")

_VPC: Mapping[str, tuple[Fate, str]] = {
    "enable_dns": ("implied", "VPCs of stacks have DNS names"),
    "name": ("dropped", "names begin with that of the cluster"),
    "tags": ("not supported", TAGS),
    "public_subnet_tags": ("implied", "subnets have the tags that load balancers look for"),
    "private_subnet_tags": ("implied", "subnets have the tags that load balancers look for"),
    "create_igw": ("implied", "a VPC with public subnets has an internet gateway"),
    "create_egress_only_igw": ("dropped", "the VPC has IPv4 addresses"),
    "map_public_ip_on_launch": ("dropped", "nodes launch in private subnets"),
    "manage_default": ("dropped", "nothing in the stack uses the defaults of the VPC"),
    "default_": ("dropped", "nothing in the stack uses the defaults of the VPC"),
    "flow_log": ("not supported", "CloudWatch Logs keeps the flow logs for seven days"),
    "create_flow_log": ("not supported", "CloudWatch Logs keeps the flow logs for seven days"),
}
_OTHER_VPC: tuple[Fate, str] = (
    "not supported",
    "create it outside of the stack, or use your VPC with `kind: existing-vpc`",
)
_SECTIONS: Mapping[str, tuple[Fate, str]] = {
    **SUPPORTING,
    **OF_PLANS,
    "variable": ("implied", "its value is where the variable is used"),
    "locals": ("implied", "its value is where the local is used"),
    "local-module": ("implied", "the blocks of the module are read with these values"),
    "output": ("dropped", "`./trainyard outputs STACK` prints the outputs of a stack"),
    "provider": ("dropped", OPTION),
    "terraform": ("dropped", OPTION),
    "data": ("dropped", "the stack looks up what it needs"),
    "resource": ("not supported", KEEP),
    "module": ("not supported", KEEP),
    "other": ("dropped", OPTION),
    "fargate-profile": ("not supported", "pods run on the system node group"),
    "karpenter": (
        "not supported",
        "install Karpenter after `up`; nodes of reservations are in node groups of fixed size",
    ),
    "hybrid-node-role": ("not supported", "stacks have no hybrid nodes"),
    "capability": ("not supported", "install Argo CD, ACK or kro after `up`"),
    "aws-auth": ("not supported", _PRINCIPALS),
    "flow-log": ("not supported", "set `network.flow_logs`"),
    "vpc-endpoints": ("not supported", "set `network.interface_endpoints`"),
    "aws_eks_access_entry": ("not supported", _PRINCIPALS),
    "aws_eks_access_policy_association": ("not supported", _PRINCIPALS),
    "aws_eks_pod_identity_association": ("not supported", ROLES),
    "aws_eks_fargate_profile": ("not supported", "pods run on the system node group"),
    "aws_eks_addon": ("implied", "the stack installs the add-on in its cluster"),
    "aws_launch_template": ("not supported", TEMPLATE),
    "aws_placement_group": ("implied", "the stack creates its placement groups"),
    "aws_vpc": ("implied", "the stack configures its VPC"),
    "aws_vpc_ipv4_cidr_block_association": ("not supported", "set `network.secondary_cidrs`"),
    "aws_subnet": ("implied", "the stack configures its subnets"),
    "aws_ec2_capacity_reservation": ("not supported", KEEP),
    "aws_ec2_capacity_block_reservation": ("not supported", KEEP),
    "aws_fsx_lustre_file_system": ("not supported", "the stack has no key for it"),
    "aws_fsx_data_repository_association": (
        "not supported",
        "set `data_repositories` of the file system",
    ),
    "aws_batch_scheduling_policy": ("not supported", "queues are first in, first out"),
    "aws_batch_job_queue": ("implied", "every compute environment has a queue"),
    "aws_batch_job_definition": ("implied", "the stack has the job definition"),
    "aws_batch_compute_environment": ("not supported", "the stack has no key for it"),
}
_META: tuple[Fate, str] = ("dropped", OPTION)
_META_KEYS = (
    *("source", "version", "count", "for_each", "providers", "provider", "depends_on"),
    *("lifecycle", "provisioner", "timeouts"),
)
_COMPUTED = OF_PLANS["computed"]
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
    "role_arn": ("not supported", ROLES),
    "vpc_config": ("not supported", GROUPS),
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
    "node_role_arn": ("not supported", ROLES),
    "launch_template": ("implied", "the stack writes the launch template"),
    "scaling_config": ("not supported", "set `minimum`, `desired` and `maximum`"),
    "instance_types": ("not supported", "set `instance_type`"),
    "release_version": ("not supported", "the stack pins the release of the AMI"),
    "version": ("implied", "nodes have the version of the cluster"),
    "taint": ("dropped", "the system node group has no taints"),
    "ami_type": ("implied", "nodes run Amazon Linux 2023"),
    "force_update_version": ("dropped", OPTION),
}


_OF_BATCH: Mapping[str, str] = {
    "aws_batch_compute_environment": "AWS::Batch::ComputeEnvironment",
    "aws_batch_job_queue": "AWS::Batch::JobQueue",
}
"""Types of CloudFormation, whose rows are also those of the resources of the provider."""
_OF_ENVIRONMENT: Mapping[tuple[str, ...], tuple[Fate, str]] = {
    ("type",): ("implied", "environments of a stack are managed by Batch"),
    ("state",): ("implied", "environments of a stack are enabled"),
    ("name_prefix",): ("dropped", NAMES),
    ("compute_environment_name_prefix",): ("dropped", NAMES),
    ("compute_resources", "image_id"): (
        "not supported",
        "set `image: custom`, and `custom_ami_id` to the id of the AMI",
    ),
    ("compute_resources", "placement_group"): (
        "not supported",
        "set `placement` of the compute environment",
    ),
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
        return OF_GROUPS.get(key) or _by_prefix(key, PREFIXES, OTHER_OPTION)
    if section == "vpc":
        return _by_prefix(key, _VPC, _OTHER_VPC)
    if section == "aws_eks_cluster":
        return _OF_CLUSTER.get(key) or _by_prefix(key, _EKS, _OTHER_INPUT)
    if section == "aws_eks_node_group":
        return _OF_NODE_GROUP.get(key) or OF_GROUPS.get(key, OTHER_OPTION)
    return (
        _OF_RESOURCES.get(key, _SECTIONS[section]) if section[:4] == "aws_" else _SECTIONS[section]
    )


def _of_batch() -> Mapping[tuple[str, ...], FateRow]:
    rows: dict[tuple[str, ...], FateRow] = {}
    for section, kind in _OF_BATCH.items():
        of_kind = {tuple(map(str.lower, path)): row for path, row in TYPES[kind].items() if path}
        for keys in KEYS.kinds:
            found = of_kind.get(tuple(key.replace("_", "") for key in keys[1:]))
            if keys[0] == section and found is not None:
                rows[keys] = found
    for path, row in _OF_ENVIRONMENT.items():
        rows["aws_batch_compute_environment", *path] = FateRow(*row)
    return rows


def _table() -> Mapping[tuple[str, ...], FateRow]:
    rows: dict[tuple[str, ...], FateRow] = {}
    for keys in KEYS.kinds:
        section, *rest = keys
        if not rest:
            if section in _SECTIONS:
                rows[keys] = FateRow(*_SECTIONS[section])
        elif len(rest) == 1:
            rows[keys] = FateRow(*_row(section, rest[0]))
        elif section == "eks":
            rows[keys] = FateRow(
                *(OF_GROUPS.get(rest[1]) or _by_prefix(rest[1], PREFIXES, OTHER_OPTION))
            )
    rows |= _of_batch()
    for groups in ("eks_managed_node_group", "self_managed_node_group"):
        rows["eks", f"{groups}s"] = FateRow("dropped", _IGNORED)
        rows["eks", f"{groups}_defaults"] = FateRow("dropped", _IGNORED)
    return rows


FATES: Mapping[tuple[str, ...], FateRow] = _table()
