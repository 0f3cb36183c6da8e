"""Multi-node parallel jobs have a managed compute environment with On-Demand EC2 instances.

Why:
    AWS Batch does not run multi-node parallel jobs on Spot Instances, on Fargate, or in an
    unmanaged compute environment. It accepts the job definition, and then rejects the job on
    submission or leaves it in RUNNABLE. A stack without any compute environment passes, because its
    jobs may use one that another program creates.
Fix:
    Set the type of the compute environment to `MANAGED` and the type of its compute resources to
    `EC2`.
Source:
    https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
    https://docs.aws.amazon.com/batch/latest/APIReference/API_RegisterJobDefinition.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.batch import fit_environments, multi_node_jobs, why_unfit
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import BATCH_COMPUTE_ENVIRONMENT
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    environments = list(stack.of_type(BATCH_COMPUTE_ENVIRONMENT))
    # Jobs of a stack without environments use those of another program.
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


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["G1"],
    check=_check,
)
