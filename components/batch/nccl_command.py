"""The default command of a job definition: an all-reduce test over all its nodes.

If each container runs its own `mpirun`, as in the older AWS templates (BAT5-10), each tests only
one node, and the results say nothing about EFA. Here the nodes connect first (`node_start`), and
one `mpirun`, or `nccom-test`, runs on the main node over all accelerators of all nodes. The number
of nodes is read at run time, so that one definition works for any number of nodes in a submission.

Source:
    https://docs.aws.amazon.com/batch/latest/userguide/service_limits.html: a job definition has at
    most 24 KiB
    https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_TaskOverride.html: container
    overrides, which a submission can use for all of this, have at most 8,192 characters
    https://github.com/awslabs/awsome-distributed-ai, 1.architectures/3.aws-batch
    https://www.open-mpi.org/doc/v4.1/man1/mpirun.1.php
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/nccom-test.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from trainyard.components.catalog.collective_tests import JobTest
from trainyard.components.catalog.instance_types import Accelerators
from trainyard.components.catalog.nccl import (
    BUILT,
    all_reduce_command,
    build_commands,
    largest_message,
    nccl_environment,
)
from trainyard.components.catalog.neuron import NCCOM_TEST_IMAGE, neuron_cores
from trainyard.components.catalog.versions import NCCL_TESTS_IMAGE
from trainyard.components.package_data import data_text

LARGEST_COMMAND = 8192
"""Maximum characters of command and environment that all ways to start a container accept."""

_ROOT_PORT = 63182
"""A free port of the main node for the rendezvous of the Neuron ranks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveTest:
    """The container of a test, identical on every node."""

    name: JobTest
    image: str
    command: tuple[str, ...]
    environment: Mapping[str, str]


def collective_test(
    accelerators: Accelerators, *, devices: int, efa_interfaces: int
) -> CollectiveTest:
    """Return the all-reduce test for nodes with these accelerators.

    Args:
        accelerators: Accelerators of the instance type.
        devices: Number of GPUs or Neuron devices of the container.
        efa_interfaces: Number of EFA devices of the container; 0 without EFA.
    """
    if accelerators.manufacturer == "neuron":
        cores = neuron_cores(accelerators.model, devices)
        return CollectiveTest(
            name="nccom-tests",
            image=NCCOM_TEST_IMAGE,
            command=on_all_nodes(_nccom_test(cores)),
            environment=_neuron_environment(efa_interfaces),
        )
    environment = nccl_environment(efa_interfaces)
    build = build_commands(accelerators)
    text = _all_reduce(accelerators, devices, tuple(environment), built=bool(build))
    return CollectiveTest(
        name="nccl-tests",
        image=NCCL_TESTS_IMAGE,
        command=on_all_nodes(text, build),
        environment=environment,
    )


def on_all_nodes(text: str, first: str = "") -> tuple[str, ...]:
    """Return a container command that connects the nodes and runs bash on the main node.

    Args:
        text: Script for the main node. Its environment has NODES, HOSTS (addresses, the main node's
            first) and, with several nodes, INTERFACE. It can reach every host by `ssh`.
        first: Script that every node runs first.
    """
    # Batch refuses empty arguments.
    return ("python3", "-c", _node_start(), text, *((first,) if first else ()))


def runs_on_all_nodes(command: tuple[str, ...]) -> bool:
    """Return whether a command is one of `on_all_nodes`."""
    return command[:3] == on_all_nodes("")[:3]


@cache
def _node_start() -> str:
    """Return the source of `node_start` without documentation."""
    text = data_text(Path(__file__).with_name("node_start.py"))
    lines = text.splitlines()
    for first, last in _documentation(ast.parse(text)):
        lines[first - 1 : last] = [""] * (last - first + 1)
    kept = (line for line in lines if line and not line.lstrip().startswith("#"))
    return re.sub(r"^( {4})+", _narrow, "\n".join(kept), flags=re.MULTILINE) + "\n"


def _narrow(indent: re.Match[str]) -> str:
    return " " * (len(indent[0]) // 4)


def _documentation(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Yield the first and last line of every docstring and attribute docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.lineno, node.end_lineno or node.lineno


def _all_reduce(
    accelerators: Accelerators, gpus: int, settings: tuple[str, ...], *, built: bool
) -> str:
    path = f"export LD_LIBRARY_PATH={BUILT}/nccl/lib:$LD_LIBRARY_PATH\n" if built else ""
    # The interface `ecs-eth0` of ECS has no route to other nodes, so Open MPI must not use it. Its
    # control traffic uses the interface through which the nodes connected. The image sets
    # `if_exclude` for data traffic, which cannot be combined with `if_include`.
    test = all_reduce_command(
        accelerators,
        processes=gpus,
        ranks='"$ranks"',
        hosts='--hostfile "$hostfile"',
        variables=settings,
        options='"${network[@]}"',
        excluded_interface="ecs-eth0",
        test=f"-b 8 -e {largest_message(accelerators)} -f 2 -g 1 -c 1 -n 100",
    )
    return f"""\
{path}\
log=$(mktemp) hostfile=$(mktemp)
read -ra addresses <<< "$HOSTS"
printf '%s slots={gpus}\\n' "${{addresses[@]}}" | tee "$hostfile"
ranks=$((NODES * {gpus})) network=()
if [ "$NODES" -gt 1 ]; then
  network=(--mca oob_tcp_if_include "$INTERFACE" -x NCCL_SOCKET_IFNAME)
fi
{test} | tee "$log"
seen=$(awk '$1 == "#" && $2 == "Rank" {{ print $3 }}' "$log" | sort -un | wc -l)
if [ "$seen" -ne "$ranks" ]; then
  echo "the test had $seen ranks, not $ranks: it did not run over all nodes" >&2
  exit 1
fi
"""


def _neuron_environment(efa_interfaces: int) -> dict[str, str]:
    # FI_EFA_USE_DEVICE_RDMA is not set, as for NCCL (A23). FI_EFA_FORK_SAFE is for Amazon Linux 2.
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {**as_root, **({"FI_PROVIDER": "efa"} if efa_interfaces else {})}


def _nccom_test(cores: int) -> str:
    return f"""\
read -ra addresses <<< "$HOSTS"
arguments=(-b 8 -e 2GB -f 2 -n 5 -w 5 -d fp32 --check --non-interactive)
if [ "$NODES" -gt 1 ]; then
  export NEURON_RT_ROOT_COMM_ID="${{addresses[0]}}:{_ROOT_PORT}"
  arguments+=(-N "$NODES" --hosts "${{addresses[@]}}")
fi
nccom-test allr -r "$((NODES * {cores}))" "${{arguments[@]}}"
"""
