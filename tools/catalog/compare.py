"""Compare the committed catalog of instance types with the responses of an account.

Run `python -m tools.catalog.compare --region us-west-2`. It prints one line per difference and
exits with 1 if there are any, so that a scheduled job detects new types and corrected facts.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import boto3

from tools.catalog.generate import DATA_FILE, SELECTION
from tools.catalog.records import Record, record

_BATCH = 100
"""Maximum number of names in a DescribeInstanceTypes request.
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html"""


def differences(catalog: Mapping[str, Record], client: Any) -> list[str]:
    """Return one line for each difference between the catalog and the client's region.

    Types that the region does not offer are ignored, as are zones of other regions.
    """
    offered = _offered_zone_ids(client)
    region_zones = {zone for zones in offered.values() for zone in zones}
    names = sorted(filter(SELECTION.fullmatch, offered))
    found = [f"{name}: not in the catalog" for name in names if name not in catalog]
    known = [name for name in names if name in catalog]
    for name, description in _descriptions(client, known):
        live = record(description, offered[name])
        ours = dict(catalog[name])
        ours["zone_ids"] = [zone for zone in ours["zone_ids"] if zone in region_zones]
        found.extend(_field_differences(name, ours, live))
    return sorted(found)


def _field_differences(name: str, ours: Record, live: Record) -> Iterator[str]:
    for field, value in live.items():
        if ours.get(field) != value:
            yield f"{name}.{field}: catalog {json.dumps(ours.get(field))}, EC2 {json.dumps(value)}"


def _offered_zone_ids(client: Any) -> dict[str, list[str]]:
    zones: dict[str, list[str]] = defaultdict(list)
    pages = client.get_paginator("describe_instance_type_offerings").paginate(
        LocationType="availability-zone-id"
    )
    for page in pages:
        for offering in page["InstanceTypeOfferings"]:
            zones[offering["InstanceType"]].append(offering["Location"])
    return zones


def _descriptions(client: Any, names: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for start in range(0, len(names), _BATCH):
        answer = client.describe_instance_types(InstanceTypes=list(names[start : start + _BATCH]))
        for description in answer["InstanceTypes"]:
            yield description["InstanceType"], description


def main(arguments: Sequence[str] | None = None, data_file: Path = DATA_FILE) -> int:
    """Print the differences and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.catalog.compare", description=__doc__)
    parser.add_argument("--region", required=True, help="region to ask, such as us-west-2")
    parser.add_argument("--profile", help="AWS profile to use")
    options = parser.parse_args(arguments)
    session = boto3.Session(region_name=options.region, profile_name=options.profile)
    catalog = json.loads(data_file.read_text(encoding="utf-8"))["instance_types"]
    found = differences(catalog, session.client("ec2"))
    for line in found:
        sys.stdout.write(f"{line}\n")
    count = len(found)
    sys.stdout.write(f"{options.region}: {count} difference{'' if count == 1 else 's'}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
