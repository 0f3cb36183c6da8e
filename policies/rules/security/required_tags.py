"""What costs money carries the tags that the platform asks for.

Why:
    Bills are split and idle capacity is found by tags. Which ones is for each platform to say, so
    the rule asks for none until its configuration names some.
Fix:
    Add the tags to the resource, or to `default_tags` of the provider, which all but Auto Scaling
    groups take.
Source:
    https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html
    https://www.hashicorp.com/blog/default-tags-in-the-terraform-aws-provider
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    ResourceValidationPolicy,
    Severity,
)

from policies.resources.props import UNKNOWN, Facts
from policies.resources.types import (
    AUTO_SCALING_GROUP,
    BATCH_COMPUTE_ENVIRONMENT,
    CLOUDFORMATION_STACK,
    EBS_VOLUME,
    EFS_FILE_SYSTEM,
    EKS_CLUSTER,
    EKS_NODE_GROUP,
    INSTANCE,
    LUSTRE_FILE_SYSTEM,
    OPENZFS_FILE_SYSTEM,
)
from policies.rule import Config, on_types

TAGGED = (
    AUTO_SCALING_GROUP,
    BATCH_COMPUTE_ENVIRONMENT,
    CLOUDFORMATION_STACK,
    EBS_VOLUME,
    EFS_FILE_SYSTEM,
    EKS_CLUSTER,
    EKS_NODE_GROUP,
    INSTANCE,
    LUSTRE_FILE_SYSTEM,
    OPENZFS_FILE_SYSTEM,
)


def _check(resource_type: str, facts: Facts, config: Config) -> Iterator[str]:
    wanted = list(config.get("tags") or ())
    if not wanted or facts.needed("tags") is UNKNOWN:
        return
    missing = [key for key in wanted if not _has(resource_type, facts, key)]
    if missing:
        # The provider's own tags do not reach Auto Scaling groups.
        all_at_once = resource_type != AUTO_SCALING_GROUP
        other = ", or to default_tags of the provider" if all_at_once else ""
        yield f"it lacks the tags {', '.join(missing)}; add them to its tags{other}"


def _has(resource_type: str, facts: Facts, key: str) -> bool:
    if resource_type == AUTO_SCALING_GROUP:  # a list of pairs
        places = range(facts.count("tags"))
        return any(facts.get("tags", index, "key") in (key, UNKNOWN) for index in places)
    # `tagsAll` has those of the provider too.
    return facts.first(("tags", key), ("tagsAll", key)) is not None


POLICY = ResourceValidationPolicy(
    name="required-tags",
    display_name="What costs money is tagged",
    description="Compute, storage and clusters have the tags that the rule's configuration names.",
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.LOW,
    tags=["security", "baseline"],
    config_schema=PolicyConfigSchema(
        {
            "tags": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Keys of the tags that every such resource must have.",
            }
        }
    ),
    remediation_steps="Add the tags.",
    url="https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html",
    validate=on_types(*TAGGED, check=_check),
)
