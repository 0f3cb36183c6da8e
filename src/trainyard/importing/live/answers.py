"""Answers of AWS as a document."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainyard.components.tagging import CLUSTER_TAG
from trainyard.importing.source import Document, node_of_value

CLOUDFORMATION_TAG = "aws:cloudformation:stack-name"
CREATORS = (CLOUDFORMATION_TAG, CLUSTER_TAG)
"""Tags of what a stack of CloudFormation, such as one of eksctl, or of this program created."""
OWNER = "OwnerStack"
"""Key that the program adds to an answer, with the stack that has the object (`owner_of`)."""


def document_of(name: str, answers: Mapping[str, Any]) -> Document:
    """Return the answers about the cluster of a name, without lines."""
    return Document(Path(name), node_of_value(answers))
