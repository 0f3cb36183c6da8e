"""What becomes of resources that no node group, environment or VPC of the conversion has."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.importing.report import Fate
from trainyard.importing.terraform.group_fates import BOOTSTRAP, GROUPS, OPTION, OTHER_OPTION, ROLES

KEEP = "it is not part of the cluster: keep it in Terraform"
_GATEWAYS = "the stack creates the gateways and the routes of its VPC"
_OWN_KEY = "set `secrets_key_arn` to a key of your own"
_UNUSED = "nothing in the stack uses the defaults of the VPC"
_EFS = (
    "the nodes mount FSx for Lustre only: keep the file system in Terraform, and mount it with the "
    "add-on aws-efs-csi-driver"
)
SUPPORTING: Mapping[str, tuple[Fate, str]] = {
    "aws_autoscaling_group": ("not supported", OTHER_OPTION[1]),
    "aws_autoscaling_schedule": ("not supported", OTHER_OPTION[1]),
    "aws_launch_configuration": ("not supported", OTHER_OPTION[1]),
    **dict.fromkeys(
        (
            *("aws_nat_gateway", "aws_eip", "aws_internet_gateway", "aws_route_table", "aws_route"),
            *("aws_route_table_association",),
        ),
        ("implied", _GATEWAYS),
    ),
    "aws_egress_only_internet_gateway": ("dropped", "the VPC has IPv4 addresses"),
    "aws_vpc_endpoint": ("not supported", "set `network.interface_endpoints`"),
    "aws_flow_log": ("not supported", "set `network.flow_logs`"),
    "aws_default_network_acl": ("dropped", _UNUSED),
    "aws_default_route_table": ("dropped", _UNUSED),
    "aws_default_security_group": ("dropped", _UNUSED),
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
        ("not supported", ROLES),
    ),
    "aws_iam_openid_connect_provider": ("implied", "every cluster has an OIDC provider"),
    **dict.fromkeys(
        (
            *("aws_security_group", "aws_security_group_rule"),
            *("aws_vpc_security_group_egress_rule", "aws_vpc_security_group_ingress_rule"),
        ),
        ("not supported", GROUPS),
    ),
    "aws_efs_file_system": ("not supported", _EFS),
    "aws_efs_mount_target": ("not supported", _EFS),
    "aws_efs_access_point": ("not supported", _EFS),
    "time_sleep": ("dropped", OPTION),
    "null_resource": ("dropped", OPTION),
}
"""Resources that belong to clusters and VPCs, by type."""
OF_PLANS: Mapping[str, tuple[Fate, str]] = {
    "shown": ("implied", "it repeats the values of the resources, or says how Terraform works"),
    "empty": ("implied", "it has no value"),
    "computed": ("implied", "AWS sets it"),
    "user-data": ("not supported", BOOTSTRAP),
    "later": (
        "not supported",
        "an attribute of another version of the provider is not read: look whether you need it",
    ),
}
"""Sections that only a plan or a state has."""
COMPUTED = frozenset(
    {
        *("arn", "id", "owner_id", "status", "status_reason", "created_at", "modified_at"),
        *("latest_version", "default_version", "ecs_cluster_arn", "resources", "dns_name"),
        *("mount_name", "network_interface_ids", "revision", "arn_prefix", "placement_group_id"),
        *("default_network_acl_id", "default_route_table_id", "default_security_group_id"),
        *("main_route_table_id", "dhcp_options_id", "ipv6_association_id", "vpc_id"),
        *("ipv6_cidr_block_association_id", "association_id", "access_entry_arn"),
        *("associated_at", "external_id", "created_date", "reservation_type"),
    }
)
"""Attributes of resources that AWS sets, or that name an object of the same VPC."""
