"""Generate `keys.txt` from the models of botocore.

Run `python -m trainyard.importing.live.batch.generate` when the version of boto3 changes.
"""

from __future__ import annotations

from pathlib import Path

from trainyard.importing.live import roles
from trainyard.importing.live.answers import OWNER
from trainyard.importing.live.shapes import Shapes, keys_of_shapes

DATA_FILE = Path(__file__).with_name("keys.txt")

_SHAPES: Shapes = {
    "DescribeComputeEnvironments": ("batch", "DescribeComputeEnvironments", "computeEnvironments"),
    "DescribeJobQueues": ("batch", "DescribeJobQueues", "jobQueues"),
    "DescribeJobDefinitions": ("batch", "DescribeJobDefinitions", "jobDefinitions"),
    "DescribeLaunchTemplateVersions": (
        "ec2",
        "DescribeLaunchTemplateVersions",
        "LaunchTemplateVersions",
    ),
    "DescribeRepositories": ("ecr", "DescribeRepositories", "repositories"),
}


def table() -> str:
    """Return the data file."""
    return (
        "# Fields of the answers about AWS Batch, from the models of botocore.\n"
        + keys_of_shapes(_SHAPES, {**roles.KEYS, f"DescribeRepositories.{OWNER}": "text"})
    )


if __name__ == "__main__":
    DATA_FILE.write_text(table(), encoding="utf-8")
