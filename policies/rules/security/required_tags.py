"""Compute, storage and clusters have the tags that the configuration of the rule names.

Why:
    Tags allocate costs and find idle capacity. Each organization uses its own tags, so the rule
    requires none until its configuration names some.
Fix:
    Add the tags to the resource, or to `default_tags` of the provider, which apply to everything
    except Auto Scaling groups.
Source:
    https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html
    https://www.hashicorp.com/blog/default-tags-in-the-terraform-aws-provider
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    Severity,
)

from trainyard.policies.resources.props import UNKNOWN, Facts
from trainyard.policies.resources.types import (
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
from trainyard.policies.rule import Config, resource_rule

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
        # `default_tags` of the provider do not apply to Auto Scaling groups.
        all_at_once = resource_type != AUTO_SCALING_GROUP
        other = ", or to default_tags of the provider" if all_at_once else ""
        yield f"it lacks the tags {', '.join(missing)}; add them to its tags{other}"


def _has(resource_type: str, facts: Facts, key: str) -> bool:
    if resource_type == AUTO_SCALING_GROUP:  # a list of pairs
        places = range(facts.count("tags"))
        return any(facts.get("tags", index, "key") in (key, UNKNOWN) for index in places)
    # `tagsAll` includes the tags of the provider.
    return facts.first(("tags", key), ("tagsAll", key)) is not None


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.LOW,
    tags=["baseline"],
    config_schema=PolicyConfigSchema(
        {
            "tags": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Keys of the tags that every such resource must have.",
            }
        }
    ),
    types=TAGGED,
    check=_check,
)
