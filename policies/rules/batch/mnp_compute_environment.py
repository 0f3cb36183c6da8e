"""Multi-node parallel jobs have a compute environment that can run them.

Why:
    AWS Batch runs no multi-node parallel job on Spot Instances, on Fargate, or in an unmanaged
    compute environment. The job definition is accepted beside such environments; the job is
    refused when it is submitted, or waits in RUNNABLE for ever.
Fix:
    Give the compute environment the type `MANAGED` and its compute resources the type `EC2`.
Source:
    https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
    https://docs.aws.amazon.com/batch/latest/APIReference/API_RegisterJobDefinition.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.batch import fit_environments, multi_node_jobs, why_unfit
from policies.resources.stack import Stack
from policies.resources.types import BATCH_COMPUTE_ENVIRONMENT
from policies.rule import Config, on_stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    environments = list(stack.of_type(BATCH_COMPUTE_ENVIRONMENT))
    # A job may also go to environments made elsewhere, if the stack has none.
    if not environments or fit_environments(stack):
        return
    reasons = ", ".join(f"{e.name} {why_unfit(stack.facts_of(e.urn))}" for e in environments)
    for job in multi_node_jobs(stack):
        yield (
            job.urn,
            (
                f"it is a multi-node parallel job, and no compute environment here can run one "
                f"({reasons}); set type of a compute environment to MANAGED and that of its "
                "compute_resources to EC2"
            ),
        )


POLICY = StackValidationPolicy(
    name="mnp-compute-environment",
    display_name="Multi-node parallel jobs have a compute environment that can run them",
    description=(
        "A stack with multi-node parallel jobs has a managed compute environment of On-Demand "
        "instances, if it has compute environments."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["batch", "G1"],
    remediation_steps="Give a managed compute environment the type EC2.",
    url="https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html",
    validate=on_stack(_check),
)
