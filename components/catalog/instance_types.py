"""The catalog of instance types, from the committed data file.

The data comes from DescribeInstanceTypes. `tools/catalog/generate.py` writes the file and
`tools/catalog/compare.py` compares it with an account.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trainyard.components.catalog.instance_type import Accelerators, InstanceType, NetworkCard

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


INSTANCE_TYPES: Mapping[str, InstanceType] = _Catalog(DATA_FILE.read_text(encoding="utf-8"))
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
