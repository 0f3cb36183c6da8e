"""What becomes of the settings of node groups that the conversion does not read."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.importing.report import Fate

BOOTSTRAP = "nodes start with the NodeConfig of the stack; run a DaemonSet for other settings"
ROLES = (
    "the stack creates the roles; for pods, create IAM roles and Pod Identity associations after "
    "`up`"
)
GROUPS = "nodes have the security groups of the cluster and of EFA"
NAMES = "names begin with those of the cluster and the node group"
TAGS = "set `tags` of the stack, which all resources get"
TEMPLATE = "the stack writes the launch template, with the interfaces and the reservation"
OPTION = "it says how Terraform works"

OF_GROUPS: Mapping[str, tuple[Fate, str]] = {
    "ami_id": ("not supported", "nodes run the pinned AMI of EKS for their instance type"),
    "ami_release_version": ("not supported", "the stack pins the release of the AMI"),
    "use_latest_ami_release_version": ("dropped", "the stack pins the release of the AMI"),
    "platform": ("implied", "nodes run Amazon Linux 2023"),
    "create": ("implied", "a stack has the node groups of its stack file"),
    "timeouts": ("dropped", OPTION),
    "tags": ("not supported", TAGS),
    "labels": ("implied", "the node group has no labels"),
    "taints": ("implied", "the node group has no taints"),
    "instance_market_options": ("not supported", "set `purchase_option` of the node group"),
    "capacity_type": ("implied", "the node group is On-Demand"),
    "capacity_reservation_specification": ("implied", "the node group has no reservation"),
    "subnet_ids": ("dropped", "the system node group is in every private subnet"),
    "enable_efa_support": ("implied", "the node group has no EFA"),
    "enable_efa_only": ("implied", "the node group has no EFA"),
    "efa_indices": ("dropped", "all interfaces but the first have no IP addresses"),
    "create_placement_group": ("implied", "the node group has no placement group"),
    "placement_group_az": ("not supported", "set `availability_zone` of the node group"),
    "placement_group_strategy": ("implied", "placement groups are cluster placement groups"),
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
    "instance_refresh": ("dropped", "the stack replaces nodes by itself"),
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
PREFIXES: Mapping[str, tuple[Fate, str]] = {
    "iam_role": ("not supported", ROLES),
    "create_iam": ("not supported", ROLES),
    "iam_instance_profile": ("not supported", ROLES),
    "create_access_entry": ("implied", "nodes are authorized by the stack"),
    "security_group": ("not supported", GROUPS),
    "create_security_group": ("not supported", GROUPS),
    "vpc_security_group_ids": ("not supported", GROUPS),
    "attach_cluster_primary_security_group": ("not supported", GROUPS),
    "launch_template": ("not supported", TEMPLATE),
    "create_launch_template": ("not supported", TEMPLATE),
    "use_custom_launch_template": ("not supported", TEMPLATE),
    "update_launch_template": ("not supported", TEMPLATE),
    "tag_specifications": ("implied", "instances, volumes and interfaces have the tags"),
    "use_name_prefix": ("dropped", NAMES),
    "name": ("dropped", NAMES),
    "cloudinit": ("not supported", BOOTSTRAP),
    "pre_bootstrap": ("not supported", BOOTSTRAP),
    "post_bootstrap": ("not supported", BOOTSTRAP),
    "bootstrap": ("not supported", BOOTSTRAP),
    "enable_bootstrap": ("not supported", BOOTSTRAP),
    "user_data": ("not supported", BOOTSTRAP),
    "kubernetes_version": ("implied", "nodes have the version of the cluster"),
    "cluster_": ("implied", "the node group is in the cluster of the stack"),
}
"""Keys of node groups by what they begin with."""
OTHER_OPTION: tuple[Fate, str] = (
    "not supported",
    "the stack configures its instances and Auto Scaling groups itself",
)
