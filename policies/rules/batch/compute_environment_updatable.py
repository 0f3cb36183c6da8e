"""A managed compute environment of AWS Batch is updated in place.

Why:
    With a service role of one's own, or an allocation strategy that Batch does not update, every
    change of image, instance type or launch template replaces the environment, and its deletion
    fails while a job queue has it ("found existing JobQueue relationship"). With the template's
    version `$Latest` or `$Default` no preview shows what nodes will be made of, and Batch goes on
    with the version that it found first.
Fix:
    Leave the service role out (the service-linked role is used then), set the allocation strategy
    to `BEST_FIT_PROGRESSIVE` (for spot `SPOT_PRICE_CAPACITY_OPTIMIZED`), and name the template's
    version by its number.
Source:
    https://docs.aws.amazon.com/batch/latest/userguide/updating-compute-environments.html
    https://docs.aws.amazon.com/batch/latest/userguide/infrastructure-updates.html
    https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.props import UNKNOWN, Facts, is_set
from policies.resources.types import BATCH_COMPUTE_ENVIRONMENT
from policies.rule import Config, on_types

# Batch updates `BEST_FIT_PROGRESSIVE_ORDERED` and `SPOT_CAPACITY_OPTIMIZED_PRIORITIZED` too; the
# provider does not know that, and replaces such an environment (`isUpdatableAllocationStrategy` in
# https://github.com/hashicorp/terraform-provider-aws, internal/service/batch/).
UPDATABLE = ("BEST_FIT_PROGRESSIVE", "SPOT_CAPACITY_OPTIMIZED", "SPOT_PRICE_CAPACITY_OPTIMIZED")
SERVICE_LINKED = ":role/aws-service-role/batch."
WITHOUT_STRATEGY = ("FARGATE", "FARGATE_SPOT", "ECS_MANAGED_INSTANCES")
MOVING = ("$Latest", "$Default")


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    kind = facts.get("computeResources", "type")
    if facts.get("type") == "UNMANAGED" or kind in WITHOUT_STRATEGY:
        return
    role = facts.get("serviceRole")
    if is_set(role) and SERVICE_LINKED not in str(role):
        yield (
            "it has a service role of its own, with which Batch updates nothing in place; leave "
            "service_role out"
        )
    strategy = facts.needed("computeResources", "allocationStrategy")
    if strategy is not UNKNOWN and strategy not in UPDATABLE:
        # Left out, the strategy is BEST_FIT.
        yield (
            f"its allocation strategy {strategy or 'BEST_FIT'} cannot be updated in place; set "
            "allocation_strategy to BEST_FIT_PROGRESSIVE, or for spot to "
            "SPOT_PRICE_CAPACITY_OPTIMIZED"
        )
    yield from _template(facts)


def _template(facts: Facts) -> Iterator[str]:
    template = ("computeResources", "launchTemplate")
    if not is_set(facts.get(*template)):
        return
    # Left out, the version is that of $Default.
    version = facts.get(*template, "version")
    if version in (*MOVING, None, ""):
        yield (
            f"it takes version {version or '$Default'} of its launch template, so a new version "
            "shows in no preview and reaches no node; set version to the template's latest_version"
        )


POLICY = ResourceValidationPolicy(
    name="compute-environment-updatable",
    display_name="Compute environments are updated in place",
    description=(
        "A managed Batch compute environment has no service role of its own, an allocation "
        "strategy that Batch updates, and a numbered launch template version."
    ),
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["batch", "baseline"],
    remediation_steps=(
        "Leave the service role out, set BEST_FIT_PROGRESSIVE, name the version by its number."
    ),
    url="https://docs.aws.amazon.com/batch/latest/userguide/updating-compute-environments.html",
    validate=on_types(BATCH_COMPUTE_ENVIRONMENT, check=_check),
)
