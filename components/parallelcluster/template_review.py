"""Checks of the CloudFormation template: size and dynamic references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from trainyard.components.config.review import Review
from trainyard.components.parallelcluster.cluster_template import (
    MAXIMUM_TEMPLATE_BYTES,
    cluster_template,
    template_bytes,
)
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.parallelcluster.references import Reference, resolve
from trainyard.components.parallelcluster.rendering.cluster import render_cluster

_LONGEST_VALUE = 200
"""Characters reserved for each id that is still unknown: more than the ARN of a resource group with
the longest allowed name, 128 characters.
https://docs.aws.amazon.com/ARG/latest/APIReference/API_CreateGroup.html"""


_DYNAMIC = "{{resolve:"
"""Prefix of a dynamic reference, which CloudFormation resolves anywhere in the template.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html"""


def review_dynamic_references(plan: ParallelClusterPlan, review: Review) -> None:
    """Refuse values that CloudFormation would replace with a parameter or a secret."""
    found = [text for text in _texts(render_cluster(plan)) if _DYNAMIC in text]
    if not found:
        return
    review.refuse(
        "architecture",
        (
            f"contains `{_DYNAMIC}`: CloudFormation would replace it with a parameter or a secret, "
            "and ParallelCluster would store that in plain text"
        ),
        found=found[0],
        allowed="any other text",
        remedy="read the parameter or the secret on the node, in a script of `custom_actions`",
    )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        for key, inner in entries.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in cast("Sequence[object]", value):
            yield from _texts(inner)


def review_template_size(plan: ParallelClusterPlan, review: Review) -> None:
    """Refuse a plan whose cluster configuration is too large for the template."""
    configuration = resolve(render_cluster(plan), _longest)
    size = template_bytes(cluster_template(plan, configuration))
    if size <= MAXIMUM_TEMPLATE_BYTES:
        return
    review.refuse(
        "architecture.queues",
        (
            "make the cluster configuration too large: CloudFormation limits the size of the "
            "template that contains it, and would reject it after all other resources were created"
        ),
        found=f"{size:,} bytes",
        allowed=f"at most {MAXIMUM_TEMPLATE_BYTES:,} bytes",
        remedy=(
            "remove queues or compute resources, or move long `custom_actions` arguments and "
            "`slurm_settings` into one script"
        ),
    )


def _longest(reference: Reference) -> str:
    return "x" * _LONGEST_VALUE
