"""The catalog of instance types, from the committed data file."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from trainyard.components.package_data import data_text

# Facts about one EC2 instance type.
#
# Source: the EC2 API `DescribeInstanceTypes`,
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTypeInfo.html


Manufacturer = Literal["nvidia", "neuron"]
"""Accelerator manufacturer: NVIDIA, or AWS for Neuron devices."""
InterfaceType = Literal["interface", "efa", "efa-only"]
Architecture = Literal["x86_64", "arm64"]
UsageClass = Literal["on-demand", "spot", "capacity-block"]


@dataclass(frozen=True, slots=True)
class NetworkCard:
    """One network card: number and types of its interfaces."""

    index: int
    maximum_interfaces: int
    interface_types: tuple[InterfaceType, ...]


@dataclass(frozen=True, slots=True)
class Accelerators:
    """The accelerators of an instance type, all of one model."""

    manufacturer: Manufacturer
    model: str
    count: int
    """Devices: GPUs, or Neuron devices."""
    memory_mib: int
    """Memory of one device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceType:
    """One EC2 instance type."""

    name: str
    vcpus: int
    memory_mib: int
    architecture: Architecture
    accelerators: Accelerators | None
    local_nvme_disks: int
    local_nvme_gb: int
    """Total size of the instance store disks, in GB (10**9 bytes), from EC2."""
    network_cards: tuple[NetworkCard, ...]
    """In card order; card 0 first."""
    maximum_network_interfaces: int
    ipv4_addresses_per_interface: int
    network_gbps: float
    """Most Gbit/s (10**9 bits per second) of all network cards; 0 if EC2 reports no number."""
    efa_interfaces: int
    """`EfaInfo.MaximumEfaInterfaces`; 0 without EFA. Not the number of cards."""
    usage_classes: tuple[UsageClass, ...]
    cluster_placement_supported: bool
    """Whether instances can launch into a cluster placement group."""
    zone_ids: tuple[str, ...]
    """Zone ids (`use1-az4`) known to offer the type; other zones may offer it too."""

    @property
    def efa_supported(self) -> bool:
        """Whether the type has at least one EFA interface."""
        return self.efa_interfaces > 0

    @property
    def has_nvidia_gpus(self) -> bool:
        """Whether the type has GPUs that NVIDIA's driver runs."""
        return self.accelerators is not None and self.accelerators.manufacturer == "nvidia"

    @property
    def family(self) -> str:
        """The part before the dot, `p5` of `p5.48xlarge`."""
        return self.name.partition(".")[0]


# The catalog of instance types, from the committed data file.
#
# The data comes from DescribeInstanceTypes. `tools/catalog/generate.py` writes the file and
# `tools/catalog/compare.py` compares it with an account.


DATA_FILE = Path(__file__).parent / "data" / "instance_types.json"


class UnknownInstanceTypeError(LookupError):
    """The catalog has no instance type of this name."""

    def __init__(self, name: str, nearest: tuple[str, ...]) -> None:
        hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
        super().__init__(f"no instance type {name!r} is known{hint}")
        self.name = name
        self.nearest = nearest
        """Similar names in the catalog, best match first; can be empty."""


def _network_cards(runs: list[Mapping[str, Any]]) -> tuple[NetworkCard, ...]:
    # The file groups consecutive equal cards; `first` and `last` are card indexes.
    return tuple(
        NetworkCard(index, run["maximum_interfaces"], tuple(run["interface_types"]))
        for run in runs
        for index in range(run["first"], run["last"] + 1)
    )


def parse_instance_type(name: str, record: Mapping[str, Any]) -> InstanceType:
    """Return the instance type of one record of the data file."""
    accelerators = record["accelerators"]
    converted: dict[str, Any] = {
        "accelerators": Accelerators(**accelerators) if accelerators else None,
        "network_cards": _network_cards(record["network_cards"]),
        "usage_classes": tuple(record["usage_classes"]),
        "zone_ids": tuple(record["zone_ids"]),
    }
    return InstanceType(name=name, **{**record, **converted})


class _Catalog(Mapping[str, InstanceType]):
    """Parses records on demand: a stack uses a few of more than a thousand."""

    def __init__(self, text: str) -> None:
        # Records are the lines that begin with four spaces and a name; decoding all of them takes
        # a tenth of the time of `check`.
        entries = (entry.partition('"') for entry in text.split('\n    "')[1:])
        self._records = {name: rest for name, _, rest in entries}
        self._made: dict[str, InstanceType] = {}

    def __getitem__(self, name: str) -> InstanceType:
        if name not in self._made:
            text = self._records[name]
            record, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
            self._made[name] = parse_instance_type(name, record)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._records

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)


FURTHER_FILE = DATA_FILE.with_name("further_instance_types.txt")


@cache
def _further() -> frozenset[str]:
    lines = data_text(FURTHER_FILE).splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def is_left_out(name: str) -> bool:
    """Return whether EC2 has a type that the catalog leaves out, such as one without Nitro.

    Source: `InstanceType` of the EC2 API,
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTypeInfo.html
    """
    return name in _further()


INSTANCE_TYPES: Mapping[str, InstanceType] = _Catalog(data_text(DATA_FILE))
"""Every known instance type by name, sorted by family and size."""


def instance_type(name: str) -> InstanceType:
    """Return the instance type of this name.

    Raises:
        UnknownInstanceTypeError: the catalog has no such type; the error contains similar names.
    """
    try:
        return INSTANCE_TYPES[name]
    except KeyError:
        nearest = difflib.get_close_matches(name, INSTANCE_TYPES, n=3, cutoff=0.6)
        raise UnknownInstanceTypeError(name, tuple(nearest)) from None


def types_of_family(name: str) -> tuple[str, ...]:
    """Return the types in the catalog with the part before the dot that a name has."""
    family = f"{name.partition('.')[0].lower()}."
    return tuple(each for each in INSTANCE_TYPES if each.startswith(family))


def zones_with(
    types: Iterable[str], region_of: Callable[[str], str | None], region: str
) -> list[str]:
    """Return the zone ids of a region that the catalog knows, those with most of the types first.

    Args:
        types: Names of instance types; those that the catalog does not have are left out.
        region_of: Returns the region of a zone id.
        region: The region.
    """
    known = [INSTANCE_TYPES[name] for name in types if name in INSTANCE_TYPES]
    number = Counter(zone for each in known for zone in each.zone_ids if region_of(zone) == region)
    return sorted(number, key=lambda zone: (-number[zone], zone))
