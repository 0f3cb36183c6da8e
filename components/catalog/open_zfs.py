"""Regions without a deployment type of FSx for OpenZFS.

Source: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/available-aws-regions.html, for regions
in the United States, Canada and Asia Pacific. AWS adds deployment types to regions, so that a
missing one is noted and not refused.
"""

from __future__ import annotations

from collections.abc import Mapping

_ONLY_FIRST_GENERATION = frozenset(
    {
        "us-gov-east-1",
        "ap-east-1",
        "ap-east-2",
        "ap-northeast-3",
        *(f"ap-southeast-{number}" for number in (3, 4, 5, 6, 7)),
    }
)
REGIONS_WITHOUT: Mapping[str, frozenset[str]] = {
    "SINGLE_AZ_2": _ONLY_FIRST_GENERATION,
    "SINGLE_AZ_HA_2": _ONLY_FIRST_GENERATION,
    "SINGLE_AZ_HA_1": frozenset(
        {
            "us-east-1",
            "us-east-2",
            "us-west-2",
            "us-gov-west-1",
            "ap-northeast-1",
            "ap-south-1",
            "ap-southeast-1",
            "ap-southeast-2",
            "ca-central-1",
        }
    ),
}
"""Regions in which AWS does not list a deployment type, by the type."""
