"""The configuration of Slurm and its nodes, as ParallelCluster writes it."""

from __future__ import annotations

import getpass
import ipaddress
import math
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.sandbox.instance_types import instance_type

# The Slurm nodes of a cluster as ParallelCluster configures them.
#
# Source:
#     https://github.com/aws/aws-parallelcluster-cookbook,
#     cookbooks/aws-parallelcluster-slurm/files/
#         default/head_node_slurm/slurm: `config_renderer.py` and `config_utils.py`
#     https://github.com/aws/aws-parallelcluster-cookbook, cookbooks/aws-parallelcluster-slurm/
#         attributes/slurm_attributes.rb (`realmemory_to_ec2memory_ratio`)


_REAL_MEMORY_RATIO = 0.95
_STATIC_WEIGHT, _DYNAMIC_WEIGHT = 1, 1000
"""`StaticNodePriority` and `DynamicNodePriority`:
https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRange:
    """The static or the dynamic nodes of a compute resource, which all are equal."""

    queue: str
    resource: str
    """Name of the compute resource."""
    capacity_block: str | None
    """Id of the Capacity Block in which the nodes run; None for other nodes."""
    prefix: str
    """Name of a node without its number, such as `compute-gpu-st-distributed-ml-`."""
    count: int
    static: bool
    cpus: int
    memory_mib: int
    weight: int
    features: tuple[str, ...]
    gpu_type: str | None
    """None without NVIDIA GPUs."""
    gpus: int
    settings: Mapping[str, object]
    """`CustomSlurmSettings` of the compute resource."""

    @property
    def expression(self) -> str:
        """All names in one expression of Slurm."""
        return f"{self.prefix}[1-{self.count}]"

    @property
    def names(self) -> list[str]:
        """The names of the nodes."""
        return [f"{self.prefix}{number}" for number in range(1, self.count + 1)]


def node_ranges(queue: Mapping[str, Any]) -> Iterator[NodeRange]:
    """Yield the nodes of a queue of a cluster configuration."""
    for resource in queue["ComputeResources"]:
        static = resource.get("MinCount", 0)
        for kind, count in (("st", static), ("dy", resource.get("MaxCount", 10) - static)):
            if count > 0:
                yield _range(queue, resource, kind, count)


def _range(
    queue: Mapping[str, Any], resource: Mapping[str, Any], kind: str, count: int
) -> NodeRange:
    types = [each["InstanceType"] for each in resource.get("Instances", [])] or [
        resource["InstanceType"]
    ]
    facts = [instance_type(name) for name in types]
    cpus = min(each.vcpus for each in facts)
    if resource.get("DisableSimultaneousMultithreading"):
        cpus //= facts[0].threads_per_core
    # Fractions of GPUs do not count: `gpu_count` of ParallelCluster's `aws/aws_resources.py`.
    every = [each.accelerators for each in facts if each.has("nvidia") and each.accelerators]
    every = [each for each in every if each.whole]
    # Types without GPUs leave the nodes without them.
    fewest = min(every, key=lambda each: each.whole) if len(every) == len(facts) else None
    static = kind == "st"
    memory = math.floor(min(each.memory_mib for each in facts) * _REAL_MEMORY_RATIO)
    return NodeRange(
        queue=queue["Name"],
        resource=resource["Name"],
        capacity_block=_capacity_block(queue, resource),
        prefix=f"{queue['Name']}-{kind}-{resource['Name']}-",
        count=count,
        static=static,
        cpus=cpus,
        memory_mib=resource.get("SchedulableMemory", memory),
        weight=resource.get(
            "StaticNodePriority" if static else "DynamicNodePriority",
            _STATIC_WEIGHT if static else _DYNAMIC_WEIGHT,
        ),
        features=(
            "static" if static else "dynamic",
            *(types if len(types) == 1 else ()),
            resource["Name"],
            *(("efa",) if resource.get("Efa", {}).get("Enabled") else ()),
            *(("gpu",) if fewest else ()),
        ),
        gpu_type=fewest.model.replace(" ", "").lower() if fewest else None,
        gpus=fewest.whole if fewest else 0,
        settings=resource.get("CustomSlurmSettings", {}),
    )


def _capacity_block(queue: Mapping[str, Any], resource: Mapping[str, Any]) -> str | None:
    """Return the id of a Capacity Block; source: `pcluster_fleet_config_generator.py`."""
    if queue.get("CapacityType") != "CAPACITY_BLOCK":
        return None
    of_resource, of_queue = (e.get("CapacityReservationTarget") or {} for e in (resource, queue))
    return (of_resource or of_queue)["CapacityReservationId"]


# The configuration of Slurm for a cluster, as ParallelCluster writes it.
#
# What depends on the machine differs: all nodes are processes of this machine, each with a port of
# its own, they have the CPUs and GPUs of their instance type on paper only, and jobs are not put
# into cgroups. SuspendProgram and ResumeProgram end and start the process of a node.
#
# Source:
#     https://github.com/aws/aws-parallelcluster-cookbook, cookbooks/aws-parallelcluster-slurm:
#         `templates/default/slurm/slurm.conf.erb` and
#         `files/default/head_node_slurm/slurm/templates`
#     https://slurm.schedmd.com/programmer_guide.html: several slurmd on one machine
#     https://slurm.schedmd.com/slurm.conf.html (`config_overrides`) and
#         https://slurm.schedmd.com/gres.conf.html


LOOPBACK = "127.0.0.1"
_IDLE_MINUTES = 10
"""Default of `ScaledownIdletime`."""
_ON_THE_HOSTS_ADDRESS = "NoCtldInAddrAny,NoInAddrAny"
"""`CommunicationParameters` with which the daemons listen on one address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where a Slurm is on this machine."""

    programs: Path
    """Directory of Slurm, with `bin`, `sbin` and `lib`."""
    directory: Path
    """Configuration, state, logs and devices."""
    sockets: Path
    """Sockets and spool directories; its path is short, because Unix allows 107 bytes."""
    ports: Sequence[int]
    """One for the controller, and one for each node."""
    loopback: str | None
    """The loopback address to which the host name of this machine resolves; None for any other."""

    @property
    def configuration(self) -> Path:
        """`slurm.conf`, the value of `SLURM_CONF`."""
        return self.directory / "slurm.conf"

    @property
    def munge_socket(self) -> Path:
        """The socket of munged."""
        return self.sockets / "munge"

    @property
    def devices(self) -> Path:
        """Directory with a file for each GPU."""
        return self.directory / "devices"

    @property
    def power(self) -> Path:
        """Directory with a file for each node that is powered up."""
        return self.directory / "power"


def loopback_of_host() -> str | None:
    """Return the loopback address that the name of this machine stands for; None if it has none.

    Slurm's daemons listen on the address of the machine's name or on all of them, and on no other
    (`CommunicationParameters` in slurm.conf(5)). Wherever they listen, a request needs a credential
    that only munged with the key of this sandbox makes.
    """
    try:
        address = socket.gethostbyname(socket.gethostname())
    except OSError:
        return None
    return address if ipaddress.ip_address(address).is_loopback else None


def ranges_of(cluster: Mapping[str, Any]) -> list[NodeRange]:
    """Return the nodes of a cluster configuration, in the order of its queues."""
    return [each for queue in cluster["Scheduling"]["SlurmQueues"] for each in node_ranges(queue)]


def slurm_configuration(name: str, cluster: Mapping[str, Any], layout: Layout) -> str:
    """Return `slurm.conf` of a cluster.

    Args:
        name: Name of the cluster.
        cluster: ParallelCluster's configuration of the cluster.
        layout: Where its Slurm is.
    """
    settings = cluster["Scheduling"].get("SlurmSettings", {})
    custom = {
        key: value
        for each in settings.get("CustomSlurmSettings", [])
        for key, value in each.items()
    }
    lines = _general(name, settings, layout) | {
        key: _here(value, layout) for key, value in custom.items()
    }
    return "\n".join(
        [
            *(f"{key}={value}" for key, value in lines.items()),
            *_nodes(cluster, layout),
            "",
        ]
    )


def _general(name: str, settings: Mapping[str, Any], layout: Layout) -> dict[str, object]:
    user, directory, loopback = getpass.getuser(), layout.directory, layout.loopback
    idle_minutes = settings.get("ScaledownIdletime", _IDLE_MINUTES)
    return {
        "ClusterName": name,
        "SlurmUser": user,
        "SlurmdUser": user,
        "SlurmctldHost": f"{socket.gethostname()}({loopback or LOOPBACK})",
        **({"CommunicationParameters": _ON_THE_HOSTS_ADDRESS} if loopback else {}),
        "SlurmctldPort": layout.ports[0],
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={layout.munge_socket},cred_expire=70",
        "PluginDir": layout.programs / "lib" / "slurm-wlm",
        "StateSaveLocation": directory / "state",
        "SlurmctldPidFile": directory / "slurmctld.pid",
        "SlurmdPidFile": directory / "%n.pid",
        "SlurmctldParameters": (
            "idle_on_node_suspend,power_save_interval=1,power_save_min_interval=1"
        ),
        "TreeWidth": 65533,
        "SuspendProgram": directory / "suspend",
        "ResumeProgram": directory / "resume",
        "ResumeFailProgram": directory / "suspend",
        "SuspendTime": idle_minutes * 60 if idle_minutes > 0 else -1,
        "SuspendTimeout": 6,  # A node ends within 5 seconds.
        "ResumeTimeout": 60,
        "ResumeRate": 0,
        "SuspendRate": 0,
        "PrivateData": "cloud",
        "SlurmctldTimeout": 300,
        "SlurmdTimeout": 180,
        "InactiveLimit": 0,
        "MinJobAge": 300,
        "KillWait": 30,
        "MessageTimeout": 60,
        "EnforcePartLimits": "ALL",
        "SchedulerType": "sched/backfill",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "MpiDefault": "none",
        "ReturnToService": 1,
        "SlurmdParameters": "config_overrides",
        "GresTypes": "gpu",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": (
            "CR_CPU_Memory" if settings.get("EnableMemoryBasedScheduling") else "CR_CPU"
        ),
        # The configuration of a node names its spool directory.
        "DebugFlags": "NO_CONF_HASH",
        "SlurmctldDebug": "verbose",
        "SlurmctldLogFile": directory / "slurmctld.log",
        "SlurmdDebug": "info",
        "SlurmdLogFile": directory / "%n.log",
    }


def _nodes(cluster: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    """Yield the lines of nodes and partitions; GresTypes must be above them."""
    ports = iter(layout.ports[1:])
    static: list[str] = []
    for index, queue in enumerate(cluster["Scheduling"]["SlurmQueues"]):
        found = list(node_ranges(queue))
        for each in found:
            yield _node_line(each, [next(ports) for _ in each.names], layout)
        name = queue["Name"]
        yield f"NodeSet={name}_nodes Nodes={','.join(each.expression for each in found)}"
        partition = f"PartitionName={name} Nodes={name}_nodes MaxTime=INFINITE State=UP"
        if index == 0:
            partition += " Default=YES"
        if queue.get("JobExclusiveAllocation"):
            partition += " OverSubscribe=EXCLUSIVE"
        yield partition + _custom(queue.get("CustomSlurmSettings", {}))
        static += [each.expression for each in found if each.static]
    if static:
        yield f"SuspendExcNodes={','.join(static)}"


def _node_line(nodes: NodeRange, ports: Sequence[int], layout: Layout) -> str:
    line = (
        f"NodeName={nodes.expression} NodeHostname={socket.gethostname()} "
        f"NodeAddr={layout.loopback or LOOPBACK} "
        f"Port=[{','.join(map(str, ports))}] CPUs={nodes.cpus} RealMemory={nodes.memory_mib} "
        f"State=CLOUD Feature={','.join(nodes.features)} Weight={nodes.weight}"
    )
    if nodes.gpu_type:
        line += f" Gres=gpu:{nodes.gpu_type}:{nodes.gpus}"
    return line + _custom(nodes.settings)


def _custom(settings: Mapping[str, object]) -> str:
    return "".join(f" {key}={value}" for key, value in settings.items())


def _here(value: object, layout: Layout) -> object:
    """Return a value of `slurm.conf`; a file of the head node becomes one in the directory."""
    text = str(value)
    return layout.directory / Path(text).name if text.startswith("/") else value


def device_configuration(cluster: Mapping[str, Any], layout: Layout) -> str:
    """Return `gres.conf` of a cluster."""
    return "".join(
        f"NodeName={each.expression} Name=gpu Type={each.gpu_type} "
        f"File={layout.devices}/nvidia[0-{each.gpus - 1}]\n"
        for each in ranges_of(cluster)
        if each.gpu_type
    )
