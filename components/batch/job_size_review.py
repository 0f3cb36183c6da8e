"""Checks of the size of job definitions.

Source: https://docs.aws.amazon.com/batch/latest/userguide/service_limits.html: at most 24 KiB for
RegisterJobDefinition.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from trainyard.components.batch.job_properties_plan import node_properties
from trainyard.components.batch.plan import JobDefinitionPlan
from trainyard.components.config.review import Review

LARGEST_JOB_DEFINITION = 24 * 1024
"""Bytes of a job definition."""
_SOME_IMAGE, _SOME_ARN = "i" * 256, "a" * 128
"""Longer than the values that are unknown before `up`: the image and the role ARN."""


def review_sizes(definitions: Sequence[JobDefinitionPlan], review: Review) -> None:
    """Refuse job definitions and arguments that are too large for Batch."""
    for definition in definitions:
        key = f"architecture.job_definitions.{definition.name}"
        if "" in definition.container.command:
            review.refuse(
                f"{key}.command",
                "has an empty argument, which Batch rejects",
                found=json.dumps(list(definition.container.command)),
                remedy="remove it",
            )
        size = _size(definition)
        if size > LARGEST_JOB_DEFINITION:
            review.refuse(
                f"{key}.command",
                "and `environment` make the job definition larger than Batch registers",
                found=f"{size} bytes together with the devices of {definition.instance_type.name}",
                allowed=f"at most {LARGEST_JOB_DEFINITION} bytes",
                remedy="move the text to a script in the image or in S3, and run that script",
            )


def _size(definition: JobDefinitionPlan) -> int:
    image = definition.container.image or _SOME_IMAGE
    properties = node_properties(
        definition,
        image=image,
        job_role_arn=_SOME_ARN,
        execution_role_arn=_SOME_ARN if definition.container.secrets else None,
        scratch=True,
    )
    return len(json.dumps(properties).encode())
