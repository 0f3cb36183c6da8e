"""Generate `components/catalog/data/instance_types.json`.

Run `python -m tools.catalog.generate` after an update of moto, which includes recorded EC2
responses to DescribeInstanceTypes and DescribeInstanceTypeOfferings. `tools.catalog.compare`
compares the data with the current responses of an account.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Mapping
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

from tools.catalog.records import Record, record

DATA_FILE = Path(__file__).parents[2] / "components" / "catalog" / "data" / "instance_types.json"

# Every type but Macs, which exist only as Dedicated Hosts, and the families that Amazon Linux 2023
# does not run on: it needs Graviton2 or x86-64-v2, and the oldest families are paravirtual ones.
# https://docs.aws.amazon.com/linux/al2023/ug/system-requirements.html
SELECTION = re.compile(r"(?!mac|(?:a1|c1|c3|m1|m2|m3|t1)\.).+")


def bundled_answers() -> tuple[dict[str, Mapping[str, Any]], dict[str, list[str]]]:
    """Return moto's DescribeInstanceTypes responses by type, and the zone ids of each type."""
    resources = files("moto") / "ec2" / "resources"
    types = json.loads(gzip.decompress((resources / "instance_types.json.gz").read_bytes()))
    zone_ids: dict[str, list[str]] = defaultdict(list)
    for region in (resources / "instance_type_offerings" / "availability-zone-id").iterdir():
        for offering in json.loads(gzip.decompress(region.read_bytes())):
            zone_ids[offering["InstanceType"]].append(offering["Location"])
    return types, zone_ids


def catalog_records(
    types: Mapping[str, Mapping[str, Any]], zone_ids: Mapping[str, list[str]]
) -> dict[str, Record]:
    """Return the records of the selected types, by name, sorted by family and size."""
    names = sorted(filter(SELECTION.fullmatch, types), key=_family_and_vcpus(types))
    return {name: record(types[name], zone_ids.get(name, [])) for name in names}


def _family_and_vcpus(types: Mapping[str, Mapping[str, Any]]) -> Any:
    def key(name: str) -> tuple[str, int, str]:
        return name.partition(".")[0], types[name]["VCpuInfo"]["DefaultVCpus"], name

    return key


def render(records: Mapping[str, Record], source: str) -> str:
    """Return the data file with one line per field, so that diffs show changed facts."""
    lines = ["{", f'  "source": {json.dumps(source)},', '  "instance_types": {']
    last_name = list(records)[-1]
    for name, fields in records.items():
        lines.append(f"    {json.dumps(name)}: {{")
        last_field = list(fields)[-1]
        lines += [
            f"      {json.dumps(field)}: {json.dumps(value)}{'' if field == last_field else ','}"
            for field, value in fields.items()
        ]
        lines.append("    }" if name == last_name else "    },")
    return "\n".join([*lines, "  }", "}", ""])


def generate() -> str:
    """Return the content of the data file, from the installed moto."""
    types, zone_ids = bundled_answers()
    source = f"DescribeInstanceTypes of EC2, as bundled with moto {metadata.version('moto')}"
    return render(catalog_records(types, zone_ids), source)


if __name__ == "__main__":
    DATA_FILE.write_text(generate(), encoding="utf-8")
