"""All broken clusters, and the page that lists them.

`python -m tests.parallelcluster.support.refusals.table` writes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from tests.parallelcluster.support.refusals.account_cases import ACCOUNT_CASES
from tests.parallelcluster.support.refusals.capacity_cases import CAPACITY_CASES
from tests.parallelcluster.support.refusals.case import Case
from tests.parallelcluster.support.refusals.cluster_cases import CLUSTER_CASES
from tests.parallelcluster.support.refusals.queue_cases import QUEUE_CASES
from tests.parallelcluster.support.refusals.storage_cases import STORAGE_CASES
from trainyard.components.catalog.versions import PARALLELCLUSTER_VERSION

TOPICS = {
    "Clusters": CLUSTER_CASES,
    "Queues and compute resources": QUEUE_CASES,
    "Capacity and placement": CAPACITY_CASES,
    "Shared storage": STORAGE_CASES,
    "What only the account shows": ACCOUNT_CASES,
}
CASES = tuple(case for cases in TOPICS.values() for case in cases)
PAGE = Path(__file__).parents[4] / "docs" / "parallelcluster-refusals.md"

_INTRODUCTION = """# Refused ParallelCluster configurations

Each row is a cluster configuration with one error. *trainyard* is the key of the stack file at
which `./trainyard check` and `up` refuse it, before anything is registered. The last topic needs
the account (`check --live`, `up`). *ParallelCluster* lists the validators of `aws-parallelcluster`
{version} that refuse the same YAML. Without trainyard they run only after CloudFormation created
the network and the provider (`ConfigSchemaValidator` is the schema, `AWSClientError` an AWS error
that ParallelCluster does not handle). The tests run each row on both sides.

trainyard refuses {ours} of {count} configurations, ParallelCluster {theirs}. If the two differ, the
row says why.
"""


def page() -> str:
    """Return the page, as Markdown."""
    ours = sum(bool(case.path) for case in CASES)
    theirs = sum(bool(case.validators) for case in CASES)
    parts = [
        _INTRODUCTION.format(
            version=PARALLELCLUSTER_VERSION, count=len(CASES), ours=ours, theirs=theirs
        )
    ]
    for topic, cases in TOPICS.items():
        parts.append(f"\n## {topic}\n\n{_rows(cases)}")
    return "".join(parts)


def _rows(cases: Iterable[Case]) -> str:
    lines = ["| Cluster | trainyard | ParallelCluster |", "|---|---|---|", *map(_row, cases)]
    return "\n".join(lines) + "\n"


def _row(case: Case) -> str:
    here = f"`{case.path}`" if case.path else "passes"
    nothing = "passes" if case.theirs else "cannot be expressed"
    there = ", ".join(f"`{name}`" for name in case.validators) or nothing
    why = f"; {case.why}" if case.why else ""
    return f"| {case.name} | {here} | {there}{why} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE} is current\n")
