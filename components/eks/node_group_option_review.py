"""Checks of node group options: auto repair and SSH access.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/node-health.html
    https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager.html
"""

from __future__ import annotations

from components.config.eks import NodeGroup
from components.config.review import Review


def review_options(review: Review, name: str, group: NodeGroup) -> None:
    """Record problems of the options of one node group.

    The add-on review checks that auto repair has the node monitoring agent.
    """
    key = f"architecture.node_groups.{name}.auto_repair"
    if group.auto_repair and group.management == "self-managed":
        review.refuse(
            key,
            "is on, but EKS repairs nodes of managed groups only",
            found=True,
            allowed="true with `management: managed`",
            remedy=review.set_command(key, "false"),
        )
    if group.ssh_key_name is not None:
        review.note(
            f"node group {name}: nodes have the key {group.ssh_key_name}, but no security group "
            "opens port 22; `aws ssm start-session --target INSTANCE-ID` needs neither, and "
            "carries SSH with `--document-name AWS-StartSSHSession`"
        )
