"""Slurm nodes in Capacity Blocks, as clustermgtd keeps them.

The nodes of a block that is not active are in a reservation for maintenance without an end, so that
jobs wait for them. It is deleted when the block is active, and the nodes start. A node whose
instance is gone is set to DOWN, which ends its jobs. clustermgtd looks every ten minutes; the
sandbox looks all the time.

Source:
    https://github.com/aws/aws-parallelcluster-node, src/slurm_plugin/capacity_block_manager.py
        (`_update_slurm_reservation`, `_cleanup_leftover_slurm_reservations`),
        src/common/schedulers/slurm_reservation_commands.py (`create_slurm_reservation`: the flag
        `maint`) and src/slurm_plugin/clustermgtd.py (`_handle_unhealthy_static_nodes`)
"""

from __future__ import annotations

import getpass
from collections.abc import Iterable

from trainyard.sandbox.slurm.block_instances import BlockNodes
from trainyard.sandbox.slurm.cluster import SlurmCluster
from trainyard.sandbox.slurm.lost_nodes import STATIC_REASON

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
