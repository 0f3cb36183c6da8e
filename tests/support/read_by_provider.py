"""Reads clusters and requests as the stand-in of ParallelCluster's provider does.

A script for `tests.support.provider_readings`: it runs in ParallelCluster's environment. Standard
input contains `{"clusters": {name: configuration}, "events": {name: event}}`. Standard output
contains the reading of each by name, or `{"refused": why}`. The stack of every event has the tags
`team: a` and `aws:cloudformation:stack-name: d`.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

# Replaces this directory, whose modules have the same names as some packages.
sys.path[0] = str(Path(__file__).resolve().parents[2] / "src")

from trainyard.sandbox.parallelcluster.provider.reading import NotInTheSandboxError, read_cluster  # noqa: E402
from trainyard.sandbox.parallelcluster.provider.requests import RefusedError, read_request  # noqa: E402


class Stacks:
    """CloudFormation with one stack."""

    def describe_stacks(self, **_: str) -> dict[str, Any]:
        """Return the stack."""
        tags = {"team": "a", "aws:cloudformation:stack-name": "d"}
        return {"Stacks": [{"Tags": [{"Key": key, "Value": tags[key]} for key in tags]}]}


def main() -> None:
    """Read standard input and write the readings."""
    asked = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):
        answer = {
            **{name: _read(read_cluster, name, each) for name, each in asked["clusters"].items()},
            **{name: _read(read_request, _stacks, each) for name, each in asked["events"].items()},
        }
    json.dump(answer, sys.stdout, default=sorted)


def _stacks(_: str) -> Stacks:
    return Stacks()


def _read(read: Callable[..., Any], *arguments: Any) -> Mapping[str, Any]:
    try:
        return asdict(read(*arguments))
    except (NotInTheSandboxError, RefusedError) as error:
        return {"refused": str(error)}


if __name__ == "__main__":
    main()
