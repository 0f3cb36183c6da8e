"""Compute environments for multi-node parallel jobs have subnets in one Availability Zone.

Why:
    AWS Batch spreads nodes over all subnets of an environment. A job whose nodes run in several
    zones pays for the traffic between them and waits for it. This rule covers jobs over TCP;
    `efa-single-zone` rejects launch templates with EFA.
Fix:
    Give the compute environment subnets of one zone and, for capacity that is not reserved, a
    cluster placement group.
Source:
    https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.batch import fit_environments, multi_node_jobs
from trainyard.policies.resources.pools import Pool
from trainyard.policies.resources.props import UNKNOWN
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.subnets import subnets_of, zones_of
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    if not multi_node_jobs(stack):
        return
    for environment in fit_environments(stack):
        zones = zones_of(stack, subnets_of(stack, environment) or []) - {None, UNKNOWN}
        if len(zones) > 1 and Pool(stack, environment).efa_template() is None:
            yield (
                environment.urn,
                (
                    f"its subnets are in {', '.join(sorted(map(str, zones)))}, so the nodes of a "
                    "multi-node parallel job can run in different zones; keep subnets of one zone "
                    "in compute_resources.subnets"
                ),
            )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["network", "G2"],
    check=_check,
)
