"""The section `HeadNode`.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/HeadNode-v3.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.components.parallelcluster.plan import HeadNodePlan
from trainyard.components.parallelcluster.references import Reference
from trainyard.components.parallelcluster.rendering.custom_actions import ACCESS_KEYS, render_access
from trainyard.components.parallelcluster.rendering.storage import (
    ROOT_VOLUME_KEYS,
    render_root_volume,
)

HEAD_NODE_KEY = "head-node"
"""Name of the reference to the imported key pair."""

NO_ADDRESS = "0.0.0.0/32"
"""`AllowedIps` that closes SSH: no client has this address. ParallelCluster has no other setting.

https://github.com/aws/aws-parallelcluster/issues/6708
"""

HEAD_NODE_KEYS: Mapping[str, str] = {
    "InstanceType": "instance_type",
    "Networking.SubnetId": "subnet_id",
    "Ssh": "ssh",
    "Ssh.KeyName": "ssh.key_name",
    "Ssh.AllowedIps": "ssh.allowed_cidr",
    **{f"LocalStorage.{theirs}": ours for theirs, ours in ROOT_VOLUME_KEYS.items()},
    **ACCESS_KEYS,
}
"""Stack file key of each setting of the head node."""


def render_head_node(head_node: HeadNodePlan) -> dict[str, Any]:
    """Return the section; the subnet and an imported key pair are references."""
    return {
        "InstanceType": head_node.instance_type,
        "Networking": {"SubnetId": Reference("subnet", head_node.subnets[0])},
        "Ssh": _ssh(head_node),
        "LocalStorage": {
            "RootVolume": {
                **render_root_volume(head_node.root_volume),
                "DeleteOnTermination": True,
            }
        },
        **render_access(head_node.access),
    }


def _ssh(head_node: HeadNodePlan) -> dict[str, Any]:
    # Without the setting, the port is open to 0.0.0.0/0, even without a key pair.
    allowed = {"AllowedIps": head_node.allowed_cidr or NO_ADDRESS}
    if head_node.public_key is not None:
        return {"KeyName": Reference("key-pair", HEAD_NODE_KEY), **allowed}
    if head_node.key_name is not None:
        return {"KeyName": head_node.key_name, **allowed}
    return allowed
