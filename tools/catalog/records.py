"""Convert DescribeInstanceTypes responses into records of the catalog's data file.

Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTypeInfo.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

Record = dict[str, Any]

_UNREPORTED_DEVICES: Mapping[str, list[Record]] = {
    "trn2u.48xlarge": [
        {"Name": "Trainium2", "Count": 16, "MemoryInfo": {"SizeInMiB": 96 * 1024}},
    ],
}
"""Neuron devices of types for which EC2 reports none.

https://aws.amazon.com/ec2/instance-types/trn2/: 16 chips of 96 GiB, as trn2.48xlarge."""
_DEVICE_MEMORY_MIB: Mapping[str, int] = {"Trainium2": 96 * 1024}
"""Memory of devices for which EC2 reports another one: 512 GiB for each chip of Trainium2.

https://awsdocs-neuron.readthedocs-hosted.com/en/latest/nki/arch/trainium2_arch.html: "4 HBM stacks
with a total device memory capacity of 96GiB".
"""


def record(description: Mapping[str, Any], zone_ids: Iterable[str]) -> Record:
    """Return the catalog record of an instance type.

    Raises:
        ValueError: the response lacks a value that the catalog requires.
    """
    network = description["NetworkInfo"]
    storage = description.get("InstanceStorageInfo", {})
    return {
        "vcpus": description["VCpuInfo"]["DefaultVCpus"],
        "memory_mib": description["MemoryInfo"]["SizeInMiB"],
        "architecture": _architecture(description),
        "accelerators": _accelerators(description),
        "local_nvme_disks": sum(disk["Count"] for disk in storage.get("Disks", [])),
        "local_nvme_gb": storage.get("TotalSizeInGB", 0),
        "network_cards": _network_cards(network["NetworkCards"]),
        "maximum_network_interfaces": network["MaximumNetworkInterfaces"],
        "ipv4_addresses_per_interface": network["Ipv4AddressesPerInterface"],
        "network_gbps": _network_gbps(network),
        "efa_interfaces": network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        "usage_classes": sorted(description["SupportedUsageClasses"]),
        "cluster_placement_supported": (
            "cluster" in description["PlacementGroupInfo"]["SupportedStrategies"]
        ),
        "zone_ids": sorted(set(zone_ids)),
    }


def _architecture(description: Mapping[str, Any]) -> str:
    # Old types report i386 in addition to x86_64.
    supported = set(description["ProcessorInfo"]["SupportedArchitectures"])
    for architecture in ("x86_64", "arm64"):
        if architecture in supported:
            return architecture
    raise ValueError(f"{description['InstanceType']}: unknown architecture {sorted(supported)}")


def _accelerators(description: Mapping[str, Any]) -> Record | None:
    gpus = description.get("GpuInfo", {}).get("Gpus", [])
    devices = description.get("NeuronInfo", {}).get("NeuronDevices", [])
    devices = _UNREPORTED_DEVICES.get(description["InstanceType"], devices)
    found = [("nvidia", gpu) for gpu in gpus if gpu["Manufacturer"] == "NVIDIA"]
    found += [("neuron", device) for device in devices]
    if not found:
        return None
    if len(found) > 1:
        raise ValueError(f"{description['InstanceType']} has accelerators of several models")
    manufacturer, device = found[0]
    return {
        "manufacturer": manufacturer,
        "model": device["Name"],
        # EC2 reports a fraction of a GPU as Count 0 and LogicalGpuCount 1.
        "count": device["Count"] or device["LogicalGpuCount"],
        "memory_mib": _DEVICE_MEMORY_MIB.get(device["Name"], device["MemoryInfo"]["SizeInMiB"]),
    }


def _network_gbps(network: Mapping[str, Any]) -> float:
    """Return the most Gbit/s of all cards together; 0 for words such as `Moderate`.

    The text `8x 100 Gigabit`, or the sum over the cards, whichever is larger: EC2 reports 200 for
    each card of p6-b200.48xlarge, and 3200 for the type.
    """
    said = re.search(r"(?:(\d+)x )?([\d.]+) Gigabit", network["NetworkPerformance"])
    of_type = int(said[1] or 1) * float(said[2]) if said else 0.0
    cards = sum(card.get("PeakBandwidthInGbps", 0) for card in network["NetworkCards"])
    return round(max(of_type, cards), 3)


def _network_cards(cards: list[Mapping[str, Any]]) -> list[Record]:
    """Return runs of equal cards, in card order: `p5.48xlarge` has one run, of cards 0 to 31."""
    ordered = sorted(cards, key=lambda card: card["NetworkCardIndex"])
    if [card["NetworkCardIndex"] for card in ordered] != list(range(len(ordered))):
        raise ValueError("network cards are not numbered from 0 without gaps")

    def kind(card: Mapping[str, Any]) -> tuple[int, tuple[str, ...]]:
        return card["MaximumNetworkInterfaces"], tuple(card["InterfaceTypes"])

    runs: list[Record] = []
    for (interfaces, types), members in groupby(ordered, key=kind):
        indexes = [card["NetworkCardIndex"] for card in members]
        runs.append(
            {
                "first": indexes[0],
                "last": indexes[-1],
                "maximum_interfaces": interfaces,
                "interface_types": list(types),
            }
        )
    return runs
