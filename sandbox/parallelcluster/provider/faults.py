"""Scheduled faults that affect the nodes of a cluster."""

from __future__ import annotations

import json
from typing import Any
from urllib.request import ProxyHandler, build_opener

from sandbox.faults.clusters import NODE_NEVER_JOINS, is_named
from sandbox.parallelcluster.provider.account import Clients

NEVER_REGISTERED = (
    "Cluster has been set to PROTECTED mode due to failures detected in static node provisioning."
)
"""https://github.com/aws/aws-parallelcluster-cookbook, `write_chef_error_handler.rb`"""


def never_registers(clients: Clients, queue: str, name: str) -> bool:
    """Return whether nodes of a compute resource run and never register with Slurm."""
    # The function is a separate process; the schedule is in force in the account's process.
    url = f"{clients('ec2').meta.endpoint_url}/_trainyard/faults"
    with build_opener(ProxyHandler({})).open(url) as answer:
        entries: list[dict[str, Any]] = json.load(answer)
    return any(
        is_named(each["node_group"], queue, name)
        for each in entries
        if each["happens"] == NODE_NEVER_JOINS.name
    )
