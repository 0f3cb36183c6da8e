"""AWS Batch can update a managed compute environment in place.

Why:
    AWS Batch replaces the environment for every change of image, instance type or launch template
    if it has a custom service role, or an allocation strategy that does not support infrastructure
    updates. Deleting the old environment then fails while a job queue uses it ("found existing
    JobQueue relationship"). With the launch template version `$Latest` or `$Default`, a preview
    does not show a new template version, and AWS Batch keeps the version that it resolved first.
Fix:
    Remove the service role, so that AWS Batch uses its service-linked role. Set the allocation
    strategy to `BEST_FIT_PROGRESSIVE`, or to `SPOT_PRICE_CAPACITY_OPTIMIZED` for Spot. Set the
    launch template version to a number.
Source:
    https://docs.aws.amazon.com/batch/latest/userguide/updating-compute-environments.html
    https://docs.aws.amazon.com/batch/latest/userguide/infrastructure-updates.html
    https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.props import UNKNOWN, Facts, is_set
from trainyard.policies.resources.types import BATCH_COMPUTE_ENVIRONMENT
from trainyard.policies.rule import Config, resource_rule

# AWS Batch also updates `BEST_FIT_PROGRESSIVE_ORDERED` and `SPOT_CAPACITY_OPTIMIZED_PRIORITIZED`,
# but the provider replaces such an environment (`isUpdatableAllocationStrategy` in
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
            "it has a custom service role, so AWS Batch cannot update it in place; remove "
            "service_role"
        )
    strategy = facts.needed("computeResources", "allocationStrategy")
    if strategy is not UNKNOWN and strategy not in UPDATABLE:
        # The default strategy is BEST_FIT.
        yield (
            f"its allocation strategy {strategy or 'BEST_FIT'} cannot be updated in place; set "
            "allocation_strategy to BEST_FIT_PROGRESSIVE, or for Spot to "
            "SPOT_PRICE_CAPACITY_OPTIMIZED"
        )
    yield from _template(facts)


def _template(facts: Facts) -> Iterator[str]:
    template = ("computeResources", "launchTemplate")
    if not is_set(facts.get(*template)):
        return
    # The default version is $Default.
    version = facts.get(*template, "version")
    if version in (*MOVING, None, ""):
        yield (
            f"it uses version {version or '$Default'} of its launch template, so previews do not "
            "show a new version and nodes do not use it; set version to the latest_version of the "
            "template"
        )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["baseline"],
    types=(BATCH_COMPUTE_ENVIRONMENT,),
    check=_check,
)
