"""Checks of the scripts that nodes run.

https://docs.aws.amazon.com/parallelcluster/latest/ug/custom-bootstrap-actions-v3.html
"""

from __future__ import annotations

import re

from components.catalog.post_install_scripts import POST_INSTALL_SCRIPTS, script_supports
from components.config.parallelcluster import OperatingSystem
from components.config.parallelcluster_nodes import HeadNode, Queue
from components.config.review import Review

_S3_OBJECT = r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/.+"
"""`s3_validators.py`, `UrlValidator`, and
https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html"""


def review_access(
    key: str, node: HeadNode | Queue, operating_system: OperatingSystem, review: Review
) -> None:
    """Record problems of the scripts of a head node or a queue, at `key`."""
    actions = node.custom_actions
    for event, scripts in (
        ("on_node_start", actions.on_node_start),
        ("on_node_configured", actions.on_node_configured),
    ):
        for index, each in enumerate(scripts):
            at = f"{key}.custom_actions.{event}[{index}].script"
            _review_script(at, each.script, operating_system, review)


def _review_script(
    key: str, script: str, operating_system: OperatingSystem, review: Review
) -> None:
    if script.startswith("s3://") and re.fullmatch(_S3_OBJECT, script) is None:
        review.refuse(
            key,
            "is not the URL of an S3 object (UrlValidator)",
            found=script,
            allowed="s3://BUCKET/KEY",
            remedy="set the bucket and the key of the script",
        )
    if not script_supports(script, operating_system):
        systems = POST_INSTALL_SCRIPTS[script].systems
        review.refuse(
            key,
            (
                f"does not support {operating_system}; it would fail on the nodes, and the cluster "
                "creation would fail"
            ),
            found=script,
            allowed=f"operating systems that begin with {', '.join(systems)}",
            remedy="remove the script, or change `architecture.operating_system`",
        )
