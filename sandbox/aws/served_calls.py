"""Which calls of AWS the endpoint handles: those that a stack or a command makes.

moto has thousands more, and each of them would be code behind the endpoint that nobody here has
tried. A stack with a new type of resource fails at its first call that is not listed, with the name
of that call.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml

LISTED = Path(__file__).with_name("served_calls.yaml")


@cache
def served_calls() -> frozenset[str]:
    """Return the calls that a stack or a command makes, such as `ec2:RunInstances`."""
    return frozenset().union(*listed_calls().values())


def listed_calls() -> Mapping[str, frozenset[str]]:
    """Return the calls by who makes them: `provider`, `parallelcluster`, `commands`."""
    listed = yaml.safe_load(LISTED.read_text(encoding="utf-8"))
    return {
        who: frozenset(f"{prefix}:{name}" for prefix, names in of.items() for name in names)
        for who, of in listed.items()
    }
