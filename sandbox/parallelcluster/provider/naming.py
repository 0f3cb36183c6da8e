"""The tags of a cluster's parts.

Source: https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/constants.py and
`templates/cdk_builder_utils.py` (`get_default_instance_tags`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CLUSTER_NAME = "parallelcluster:cluster-name"
VERSION = "parallelcluster:version"
NODE_TYPE = "parallelcluster:node-type"
QUEUE_NAME = "parallelcluster:queue-name"
COMPUTE_RESOURCE_NAME = "parallelcluster:compute-resource-name"
HEAD_NODE = "HeadNode"
COMPUTE = "Compute"


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Return tags in the form of most AWS APIs."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def tagged(resource_type: str, tags: Mapping[str, str]) -> dict[str, Any]:
    """Return tags in the form of EC2's create calls."""
    return {"ResourceType": resource_type, "Tags": tag_list(tags)}


def of_cluster(name: str) -> list[dict[str, Any]]:
    """Return the filter for the EC2 resources of a cluster."""
    return [{"Name": f"tag:{CLUSTER_NAME}", "Values": [name]}]
