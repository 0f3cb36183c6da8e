"""Values for keys whose type does not determine them: ids and names in the sandbox's account."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.support.changes.choices import REMOVED
from tests.support.kubernetes import DEFAULT, PREVIOUS
from tests.support.stack_files import value_at
from trainyard.sandbox.account.fixture import fixture

Choose = Callable[[Mapping[str, Any], tuple[str, ...]], Sequence[Any]]

_OTHER_TYPES = {
    "p5": ["p4d.24xlarge"],
    "p4d": ["p5.48xlarge"],
    "p4de": ["p4d.24xlarge"],
    "g4dn": ["g4dn.12xlarge", "g5.8xlarge"],
    "g5": ["g5.24xlarge"],
    "trn1": ["trn1n.32xlarge"],
    "c5": ["m5.2xlarge"],
    "m5": ["m5.12xlarge"],
}
"""Other types for a pool of a family."""
_KEY = "arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
_RESERVATION_OF = {
    "p5.48xlarge": "cr-00d00000000000002",
    "p4de.24xlarge": "cr-00d00000000000004",
    "p4d.24xlarge": "cr-00d00000000000005",
    "trn1.32xlarge": "cr-00d00000000000003",
}


def _instance_types(raw: Mapping[str, Any], place: tuple[str, ...]) -> Sequence[Any]:
    present = value_at(raw, place) or ("m5.8xlarge" if "head_node" in place else "c5.2xlarge")
    return _OTHER_TYPES.get(present.partition(".")[0], ["c5.4xlarge"])


def _purchase_options(raw: Mapping[str, Any], place: tuple[str, ...]) -> Sequence[Any]:
    present = value_at(raw, place) or "on-demand"
    others = ["on-demand", "spot", *(raw.get("reservations") or {})]
    return [each for each in others if each != present][:2]


def _reservations(raw: Mapping[str, Any], place: tuple[str, ...]) -> Sequence[Any]:
    """Return another reservation of the same kind and type, and one of another type."""
    found = {each["id"]: each for each in fixture()["reservations"]}
    present = found.get(value_at(raw, place), {})

    def like(each: Mapping[str, Any], key: str) -> bool:
        return each.get(key) == present.get(key)

    same = [
        name
        for name, each in found.items()
        if each is not present and like(each, "kind") and like(each, "type") and like(each, "zone")
    ]
    other = [name for name, each in found.items() if like(each, "kind") and not like(each, "type")]
    return [*same[:1], *other[:1]]


def _subnets(raw: Mapping[str, Any], place: tuple[str, ...]) -> Sequence[Any]:
    last = "1" if place[-1].startswith("public") else "2"
    named = [each["id"] for each in fixture()["subnets"] if each["id"].endswith(f"000000{last}")]
    present = list(value_at(raw, place) or ())
    more = [each for each in named if each not in present][:1]
    return [[*present, *more], present[:-1]]


def _subnet(raw: Mapping[str, Any], _place: tuple[str, ...]) -> Sequence[Any]:
    network = raw["network"]
    private = network.get("private_subnet_ids")
    return list(private or ["subnet-0b000000000000002"])[:2]


def _zones(raw: Mapping[str, Any], place: tuple[str, ...]) -> Sequence[Any]:
    present = list(value_at(raw, place))
    ids = present[0].count("-az") == 1
    every = (
        ["usw2-az1", "usw2-az2", "usw2-az3", "usw2-az4"]
        if ids
        else [f"us-west-2{letter}" for letter in "abcd"]
    )
    more = [zone for zone in every if zone not in present][:1]
    return [[*present, *more], present[:-1] or more]


def _zone(raw: Mapping[str, Any], place: tuple[str, ...]) -> Sequence[Any]:
    zones = raw["network"].get("availability_zones") or ["us-west-2a", "us-west-2b"]
    return [zone for zone in zones if zone != value_at(raw, place)][:2]


def _more_and_less(raw: Mapping[str, Any], place: tuple[str, ...]) -> Sequence[Any]:
    present = value_at(raw, place)
    least = 1 if place[-1] == "maximum" else 0
    if present is None:
        return [least + 1]
    return [present + 1, *([present - 1] if present > least else [])]


def _block_times(raw: Mapping[str, Any], place: tuple[str, ...]) -> Sequence[Any]:
    if place[-1] == "starts_at":
        return ["2026-11-30T12:00:00Z", "2026-12-03T11:30:00Z"]
    # The block of the account ends six days after the time at which the plans are made.
    return ["2026-12-07T12:00:00Z", "2026-12-21T11:30:00Z"]


def _further_blocks(raw: Mapping[str, Any], place: tuple[str, ...]) -> Sequence[Any]:
    """Return one block more, and all blocks without one of them."""
    present = list(value_at(raw, place) or ())
    own = value_at(raw, (*place[:-1], "purchase_option")) or value_at(
        raw, (*place[:3], "purchase_option")
    )
    entries = (raw.get("reservations") or {}).items()
    blocks = [name for name, each in entries if each["kind"] == "capacity-block"]
    more = [name for name in blocks if name not in (own, *present)][:1]
    fewer = [[each for each in present if each != gone] for gone in present]
    return [*([[*present, *more]] if more else []), *fewer]


def _fixed(*values: Any) -> Choose:
    return lambda _raw, _place: values


SPECIAL: Mapping[str, Choose] = {
    "name": _fixed("renamed"),
    "tags": _fixed({"team": "research"}),
    "policies": _fixed({"imdsv2-required": {"enforcement_level": "advisory"}}),
    "*.instance_type": _instance_types,
    "*.purchase_option": _purchase_options,
    "*.further_blocks": _further_blocks,
    "reservations.*.reservation_id": _reservations,
    "reservations.*.*s_at": _block_times,
    "reservations.*.placement_group": _fixed("p4de-reserved", REMOVED),
    "reservations.*.instance_count": _fixed(1, 2, 4),
    "network.vpc_id": _fixed("vpc-0fedcba9876543210"),
    "network.*_subnet_ids": _subnets,
    "network.availability_zones": _zones,
    "network.cidr": _fixed("10.64.0.0/16"),
    "network.secondary_cidrs": _fixed(["100.64.0.0/16"]),
    "network.interface_endpoints": _fixed(["ssm"]),
    "*.subnet_id": _subnet,
    "*.subnet_ids": lambda raw, place: [[each] for each in _subnet(raw, place)],
    "*.availability_zone": _zone,
    "architecture.kubernetes_version": _fixed(PREVIOUS, DEFAULT),
    "architecture.addons.versions": _fixed({"coredns": "v1.13.1-eksbuild.1"}),
    "*.public_access_cidrs": _fixed(["203.0.113.0/24"]),
    "*.kms_key_arn": _fixed(_KEY),
    "*.secrets_key_arn": _fixed(_KEY),
    "*.taints": _fixed([{"key": "team", "value": "research", "effect": "NoSchedule"}]),
    "*.labels": _fixed({"team": "research"}),
    "*.iam_policies": _fixed(["AmazonS3ReadOnlyAccess"]),
    "*.ssh_key_name": _fixed("sandbox"),
    "*.key_name": _fixed("sandbox", REMOVED),
    "*.placement.name": _fixed("p4de-reserved"),
    "*.custom_ami_id": _fixed("ami-0c000000000022041"),
    "*.minimum": _more_and_less,
    "*.desired": _more_and_less,
    "*.maximum": _more_and_less,
    "*.root_volume.size_gib": _fixed(1000, 60),
    "*.on_node_start": _fixed([{"script": "s3://trainyard-sandbox-scripts/post-install.sh"}]),
    "*.on_node_configured": _fixed([{"script": "s3://trainyard-sandbox-scripts/post-install.sh"}]),
    "*.schedulable_memory_mib": _fixed(400000),
    "*.memory_mib": _fixed(65536),
    "*.shared_memory_mib": _fixed(8192),
    "*.vcpus": _fixed(8),
    "*.timeout_minutes": _fixed(120),
    "*.slurm_settings": _fixed({"Weight": "2"}),
    "architecture.slurm.settings": _fixed({"DebugFlags": "NO_CONF_HASH"}),
    "*.mount_directory": _fixed("/elsewhere"),
    "*.compute_environment": _fixed(),
    "*.job_definitions.*.image": _fixed("public.ecr.aws/hpc-cloud/nccl-tests:latest"),
    "*.job_definitions.*.command": _fixed(["true"]),
    "*.environment": _fixed({"NCCL_DEBUG": "INFO"}),
    "architecture.repository": _fixed({"deletion_protection": False}, REMOVED),
    "storage.*.storage_capacity_gib": _fixed(2400, 1200, 4800),
    "storage.*.throughput_capacity_mbps": _fixed(320),
    "storage.*.per_unit_storage_throughput": _fixed(250, 500),
    "storage.*.metadata_iops": _fixed(1500, 3000),
    "storage.*.import_path": _fixed("s3://trainyard-sandbox-data"),
    "storage.*.export_path": _fixed("s3://trainyard-sandbox-data/out"),
    "storage.*.data_repositories": _fixed(
        [{"file_system_path": "/data", "s3_path": "s3://trainyard-sandbox-data"}]
    ),
    "storage.*.raid": _fixed({"type": 1}),
}
"""By a pattern of the key; the first match applies, and an empty choice keeps the key."""
