"""The nodes of a multi-node parallel job stand in one zone.

Why:
    Batch fills an environment over all its subnets, and a job whose nodes stand in several zones
    pays for every byte between them and waits on it. Where the launch template has EFA, another
    rule refuses that outright; this one is for jobs over TCP.
Fix:
    Give the compute environment the subnets of one zone, and with capacity that is not reserved a
    cluster placement group.
Source:
    https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity, StackValidationPolicy

from policies.resources.batch import fit_environments, multi_node_jobs
from policies.resources.launches import Launch, templates_of
from policies.resources.props import UNKNOWN
from policies.resources.stack import Stack
from policies.resources.subnets import subnets_of, zones_of
from policies.resources.types import LAUNCH_TEMPLATE
from policies.rule import Config, on_stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    if not multi_node_jobs(stack):
        return
    for environment in fit_environments(stack):
        zones = zones_of(stack, subnets_of(stack, environment) or []) - {None, UNKNOWN}
        if len(zones) > 1 and not _has_efa(stack, environment):
            yield (
                environment.urn,
                (
                    f"the stack has multi-node parallel jobs, and its subnets lie in "
                    f"{', '.join(sorted(map(str, zones)))}, so the nodes of a job may too; leave "
                    "subnets of one zone in compute_resources.subnets"
                ),
            )


def _has_efa(stack: Stack, environment: PolicyResource) -> bool:
    return any(
        Launch(LAUNCH_TEMPLATE, stack.facts_of(template.urn)).efa_interfaces()
        for template in templates_of(stack, environment)
    )


POLICY = StackValidationPolicy(
    name="mnp-single-zone",
    display_name="Multi-node parallel jobs run in one zone",
    description="Compute environments beside multi-node parallel jobs have subnets of one zone.",
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["batch", "network", "G2"],
    remediation_steps="Leave subnets of one zone in the compute environment.",
    url="https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html",
    validate=on_stack(_check),
)
