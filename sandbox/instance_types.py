"""What a machine of an EC2 instance type has, for nodes of Kubernetes and Slurm and for pools.

Source: the answers of EC2 to DescribeInstanceTypes that moto contains
(https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTypeInfo.html). They are read
without moto itself, whose import takes seconds, and one type at a time: all of them have 4 MB.
"""

from __future__ import annotations

import difflib
import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

_FILE = Path("ec2", "resources", "instance_types.json.gz")

_LOGICAL_CORE = 2
"""Physical NeuronCores of version 3 (Trainium2) that are one logical core, which software sees.

https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-features/logical-neuroncore-config.html:
2 is the default of Trn2.
"""
_VERSION_WITH_LOGICAL_CORES = 3

_UNREPORTED_NEURON: Mapping[str, str] = {"trn2u.48xlarge": "trn2.48xlarge"}
"""Types for which EC2 reports no Neuron devices, and the type with the same ones.

https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-hardware/trn2-arch.html:
both have 16 Trainium2; those of four trn2u.48xlarge are connected to one UltraServer.
"""


class UnknownInstanceTypeError(LookupError):
    """EC2 has no instance type of this name."""

    def __init__(self, name: str, nearest: list[str]) -> None:
        hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
        super().__init__(f"no instance type {name!r} is known{hint}")


@dataclass(frozen=True, slots=True)
class Accelerators:
    """The GPUs or Neuron devices of an instance type, all of one model."""

    maker: Literal["nvidia", "neuron"]
    model: str
    """Name in EC2: `H100`, `Trainium2`."""
    count: int
    """Devices that the driver finds: a fraction of a GPU is one."""
    whole: int
    """Devices without fractions."""
    cores: int = 0
    """NeuronCores of all devices together, as software sees them; 0 of GPUs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceType:
    """One EC2 instance type."""

    name: str
    architecture: Literal["x86_64", "arm64"]
    vcpus: int
    threads_per_core: int
    memory_mib: int
    local_nvme_gb: int
    """Total size of the instance store disks, in GB (10**9 bytes)."""
    interfaces_of_first_card: int
    """Network interfaces that network card 0 can have."""
    addresses_per_interface: int
    """IPv4 addresses that an interface can have."""
    accelerators: Accelerators | None

    def has(self, maker: Literal["nvidia", "neuron"]) -> bool:
        """Return whether the type has accelerators of a maker."""
        return self.accelerators is not None and self.accelerators.maker == maker


def is_instance_type(name: str) -> bool:
    """Return whether EC2 has an instance type."""
    return _start(name) is not None


@cache
def instance_type(name: str) -> InstanceType:
    """Return an instance type.

    Raises:
        UnknownInstanceTypeError: EC2 has no such type; the error contains similar names.
    """
    described = _described(name)
    if described is None:
        nearest = difflib.get_close_matches(name, [*_names()], n=3, cutoff=0.6)
        raise UnknownInstanceTypeError(name, nearest)
    cards = described["NetworkInfo"]["NetworkCards"]
    first = next(card for card in cards if card["NetworkCardIndex"] == 0)
    cpus = described["VCpuInfo"]
    architectures = described["ProcessorInfo"]["SupportedArchitectures"]
    return InstanceType(
        name=name,
        # Old types report i386 in addition.
        architecture="arm64" if "arm64" in architectures else "x86_64",
        vcpus=cpus["DefaultVCpus"],
        # Old types do not report it.
        threads_per_core=cpus.get("DefaultThreadsPerCore", 1),
        memory_mib=described["MemoryInfo"]["SizeInMiB"],
        local_nvme_gb=described.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0),
        interfaces_of_first_card=first["MaximumNetworkInterfaces"],
        addresses_per_interface=described["NetworkInfo"]["Ipv4AddressesPerInterface"],
        accelerators=_gpus(described) or _neuron(described),
    )


@cache
def nvidia_types() -> tuple[str, ...]:
    """Return the names of the types with NVIDIA GPUs, sorted."""
    every = json.loads(_text())
    return tuple(sorted(name for name, described in every.items() if _gpus(described)))


def _gpus(described: Mapping[str, Any]) -> Accelerators | None:
    gpus = described.get("GpuInfo", {}).get("Gpus", [])
    found = [gpu for gpu in gpus if gpu["Manufacturer"] == "NVIDIA"]
    if not found:
        return None
    return Accelerators(
        maker="nvidia",
        model=found[0]["Name"],
        # EC2 reports a fraction of a GPU as Count 0 and LogicalGpuCount 1.
        count=sum(gpu["Count"] or gpu["LogicalGpuCount"] for gpu in found),
        whole=sum(gpu["Count"] for gpu in found),
    )


def _neuron(described: Mapping[str, Any]) -> Accelerators | None:
    same = _described(_UNREPORTED_NEURON.get(described["InstanceType"], ""))
    devices = (same or described).get("NeuronInfo", {}).get("NeuronDevices", [])
    if not devices:
        return None
    count, core = sum(device["Count"] for device in devices), devices[0]["CoreInfo"]
    logical = _LOGICAL_CORE if core["Version"] == _VERSION_WITH_LOGICAL_CORES else 1
    cores = count * core["Count"] // logical
    return Accelerators("neuron", devices[0]["Name"], count, whole=count, cores=cores)


@cache
def _text() -> str:
    """Return the answers, by name: JSON with an indentation of one space."""
    package = find_spec("moto")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("moto is missing; run ./trainyard, which installs it")
    return gzip.decompress((Path(package.origin).parent / _FILE).read_bytes()).decode()


def _start(name: str) -> int | None:
    """Return where the answer for a type begins in the text; None if there is none."""
    key = f"\n {json.dumps(name)}: "
    found = _text().find(key)
    return None if found < 0 else found + len(key)


def _described(name: str) -> dict[str, Any] | None:
    """Return the answer for a type; None if there is none."""
    start = _start(name)
    return None if start is None else json.JSONDecoder().raw_decode(_text(), start)[0]


def _names() -> Iterator[str]:
    return (entry.partition('"')[0] for entry in _text().split('\n "')[1:])
