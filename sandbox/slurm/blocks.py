"""Slurm nodes in Capacity Blocks, as clustermgtd keeps them, and their instances."""

from __future__ import annotations

import getpass
import logging
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from moto.core.exceptions import ServiceException
from moto.ec2.models import ec2_backends

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.capacity_reservations import reservations_of
from trainyard.sandbox.aws.ec2.launch_request import merge
from trainyard.sandbox.aws.ec2.launches import check_launch, refuse_scheduled_launch, run
from trainyard.sandbox.aws.environment import ACCOUNT_ID
from trainyard.sandbox.aws.errors import code_and_message
from trainyard.sandbox.parallelcluster.provider import model
from trainyard.sandbox.slurm.cluster import SlurmCluster
from trainyard.sandbox.slurm.configuration import NodeRange
from trainyard.sandbox.slurm.lost_nodes import STATIC_REASON

# The instances of Slurm nodes in Capacity Blocks: launched while their block is active.
#
# ParallelCluster creates a cluster before its blocks start. Their nodes are static, and clustermgtd
# launches those that are missing once a minute, from the launch template of their compute resource.
#
# Source:
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-capacity-blocks.html
#     https://github.com/aws/aws-parallelcluster-node, src/slurm_plugin/clustermgtd.py
#         (`_handle_unhealthy_static_nodes`) and
#         https://github.com/aws/aws-parallelcluster-node/pull/591
#     https://github.com/aws/aws-parallelcluster-cookbook,
#     cookbooks/aws-parallelcluster-slurm/files/
#         default/clustermgtd: `loop_time` is 60 seconds


LOG = logging.getLogger("trainyard.sandbox.slurm")

_INTERVAL = timedelta(minutes=1)
_GONE = ("shutting-down", "terminated")


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockNodes:
    """The nodes of a compute resource in a Capacity Block."""

    nodes: NodeRange
    is_active: bool
    """Whether the block is active."""
    running: int
    """Number of their instances."""

    @property
    def present(self) -> list[str]:
        """The names of the nodes that have an instance: the first ones."""
        return self.nodes.names[: self.running]


class BlockInstances:
    """The instances in the account.

    Args:
        lock: The lock of the account.
        region: Its region.
    """

    def __init__(self, lock: threading.RLock, region: str) -> None:
        self._lock = lock
        self._region = region
        self._tried: dict[str, datetime] = {}

    def follow(self, cluster: str, ranges: Iterable[NodeRange]) -> list[BlockNodes]:
        """Launch what is missing in active blocks, and return what there is.

        Args:
            cluster: Name of the cluster.
            ranges: Its nodes in Capacity Blocks.
        """
        with self._lock:
            ec2: Any = ec2_backends[ACCOUNT_ID][self._region]
            return [self._follow(ec2, cluster, each) for each in ranges]

    def _follow(self, ec2: Any, cluster: str, nodes: NodeRange) -> BlockNodes:
        block = reservations_of(ec2).by_id.get(nodes.capacity_block or "")
        is_active = block is not None and block.state == "active"
        running = _count(ec2, cluster, nodes)
        template = f"{cluster}-{nodes.queue}-{nodes.resource}"
        tried = self._tried.get(template)
        due = tried is None or CLOCK.now() - tried >= _INTERVAL
        if is_active and running < nodes.count and due:
            self._tried[template] = CLOCK.now()
            running += _launched(ec2, template, nodes.count - running)
        return BlockNodes(nodes=nodes, is_active=is_active, running=running)


def _count(ec2: Any, cluster: str, nodes: NodeRange) -> int:
    wanted = {
        model.CLUSTER_NAME: cluster,
        model.QUEUE_NAME: nodes.queue,
        model.COMPUTE_RESOURCE_NAME: nodes.resource,
    }
    tags = (
        {tag["key"]: tag["value"] for tag in instance.get_tags()}
        for instance in ec2.all_instances()
        if instance.state not in _GONE
    )
    return sum(wanted.items() <= each.items() for each in tags)


def _launched(ec2: Any, template: str, missing: int) -> int:
    """Launch instances as far as there is capacity (`best-effort`), and return their number."""
    request = {
        "LaunchTemplate": {"LaunchTemplateName": template, "Version": "$Latest"},
        "MinCount": 1,
        "MaxCount": missing,
    }
    try:
        refuse_scheduled_launch()
        made = run(ec2, check_launch(ec2, merge(ec2, request)))
    except ServiceException as error:
        LOG.info("%s launches nothing: %s: %s", template, *code_and_message(error))
        return 0
    return len(made.instances)


# Slurm nodes in Capacity Blocks, as clustermgtd keeps them.
#
# The nodes of a block that is not active are in a reservation for maintenance without an end, so
# that jobs wait for them. It is deleted when the block is active, and the nodes start. A node whose
# instance is gone is set to DOWN, which ends its jobs. clustermgtd looks every ten minutes; the
# sandbox looks all the time.
#
# Source:
#     https://github.com/aws/aws-parallelcluster-node, src/slurm_plugin/capacity_block_manager.py
#         (`_update_slurm_reservation`, `_cleanup_leftover_slurm_reservations`),
#         src/common/schedulers/slurm_reservation_commands.py (`create_slurm_reservation`: the flag
#         `maint`) and src/slurm_plugin/clustermgtd.py (`_handle_unhealthy_static_nodes`)


_PREFIX = "pcluster-"


class SlurmBlocks:
    """The nodes in Capacity Blocks of a Slurm that runs."""

    def __init__(self, slurm: SlurmCluster) -> None:
        self._slurm = slurm
        lines = slurm.run("scontrol", "--oneliner", "show", "reservation").splitlines()
        found = (line.split()[0].partition("=")[2] for line in lines if "=" in line)
        self._reserved = {name for name in found if name.startswith(_PREFIX)}
        self._present: set[str] = set()

    def step(self, found: Iterable[BlockNodes]) -> None:
        """Do what the blocks require now.

        Raises:
            SlurmError: a command fails; the next step continues.
        """
        inactive: dict[str, list[str]] = {}
        present: set[str] = set()
        for each in found:
            if each.is_active:
                present.update(each.present)
            else:
                name = f"{_PREFIX}{each.nodes.capacity_block}"
                inactive.setdefault(name, []).extend(each.nodes.names)
        self._reserve(inactive)
        self._move(present)

    def _reserve(self, inactive: dict[str, list[str]]) -> None:
        for name in self._reserved - inactive.keys():
            self._slurm.run("scontrol", "delete", f"ReservationName={name}")
            self._reserved.remove(name)
        for name in inactive.keys() - self._reserved:
            self._slurm.run(
                "scontrol",
                "create",
                "reservation",
                f"ReservationName={name}",
                f"nodes={','.join(inactive[name])}",
                f"user={getpass.getuser()}",
                "starttime=now",
                "duration=infinite",
                "flags=maint",
            )
            self._reserved.add(name)

    def _move(self, present: set[str]) -> None:
        gone, came = sorted(self._present - present), sorted(present - self._present)
        if gone:
            for node in gone:
                (self._slurm.layout.power / node).unlink(missing_ok=True)
            down = (f"nodename={','.join(gone)}", "state=down", f"reason={STATIC_REASON}")
            self._slurm.run("scontrol", "update", *down)
            self._present.difference_update(gone)
        self._slurm.power_up(came)
        self._present.update(came)

    def wait(self) -> None:
        """Wait until the nodes with an instance are up.

        Raises:
            SlurmError: they do not start.
        """
        self._slurm.wait_for(sorted(self._present))
