"""Typical programs with jobs of AWS Batch."""

from __future__ import annotations

import json
from typing import Any

from policies.resources.types import BATCH_JOB_DEFINITION, ECR_REPOSITORY
from tests.support.policy import UNKNOWN, Declared

EFA_DEVICE = {"hostPath": "/dev/infiniband/uverbs0", "containerPath": "/dev/infiniband/uverbs0"}


def node_range(nodes: str = "0:", **more: Any) -> dict[str, Any]:
    """Return a node group of a job whose containers are privileged, as EFA jobs are."""
    container = {"image": "nccl-tests:1", "privileged": True, **more.pop("container", {})}
    return {"targetNodes": nodes, "container": container, **more}


def multi_node_job(*ranges: dict[str, Any], **changes: Any) -> Declared:
    """Return the definition of a job of two nodes."""
    properties = {
        "mainNode": 0,
        "numNodes": 2,
        "nodeRangeProperties": list(ranges) or [node_range()],
        **changes.pop("node_properties", {}),
    }
    props = {"type": "multinode", "nodeProperties": json.dumps(properties), **changes}
    return Declared(BATCH_JOB_DEFINITION, "nccl-tests", props)


def unknown_job() -> Declared:
    """Return a definition whose image the program creates, so that the document is unknown."""
    props = {"type": "multinode", "nodeProperties": UNKNOWN}
    return Declared(BATCH_JOB_DEFINITION, "nccl-tests", props, {"nodeProperties": ["images"]})


IMAGES = Declared(ECR_REPOSITORY, "images", {"imageScanningConfiguration": {"scanOnPush": True}})
"""The repository of that image."""


def single_node_job(**container: Any) -> Declared:
    """Return the definition of a job of one node."""
    properties = json.dumps({"image": "preprocess:1", **container})
    props = {"type": "container", "containerProperties": properties}
    return Declared(BATCH_JOB_DEFINITION, "preprocess", props)
