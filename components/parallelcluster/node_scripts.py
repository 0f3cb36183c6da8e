"""The text of the built-in scripts, and their place in the bucket of the stack.

ParallelCluster takes scripts from `s3://` and `https://` only. The key of a script that queues run
contains a digest of its text: another text is another key, so that nodes of one queue never run
different versions, and ParallelCluster replaces the nodes according to the update strategy of the
cluster. The head node runs its scripts once in its life, and its configuration cannot change: its
keys stay.

https://docs.aws.amazon.com/parallelcluster/latest/ug/custom-bootstrap-actions-v3.html
"""

from __future__ import annotations

import hashlib
import shlex
from functools import cache
from pathlib import Path

from trainyard.components.catalog.post_install_scripts import POST_INSTALL_SCRIPTS

PREFIX = "node-scripts/"
"""Prefix of all keys, and what nodes may read."""
HEAD_NODE_PREFIX = f"{PREFIX}head-node/"

VERIFIED = "verified"
"""The script that runs a script of the user if its digest is that of the stack file."""

_SOURCES = Path(__file__).with_name("node_script_sources")
_DIGEST_LENGTH = 12


@cache
def script_text(name: str) -> str:
    """Return a built-in script as one file: its pins, what all scripts share, and itself."""
    pins = {} if name == VERIFIED else POST_INSTALL_SCRIPTS[name].pins
    head = ["#!/bin/bash", "set -euo pipefail", "", f"SCRIPT={name}"]
    return "\n".join(
        [
            *head,
            *(f"{variable}={shlex.quote(value)}" for variable, value in pins.items()),
            "",
            _source("common"),
            _source(name),
        ]
    )


def _source(name: str) -> str:
    return (_SOURCES / f"{name}.sh").read_text(encoding="utf-8")


def queue_key(name: str) -> str:
    """Return the key of a built-in script for queues."""
    digest = hashlib.sha256(script_text(name).encode()).hexdigest()[:_DIGEST_LENGTH]
    return f"{PREFIX}{name}-{digest}.sh"


def head_node_key(name: str) -> str:
    """Return the key of a built-in script for the head node."""
    return f"{HEAD_NODE_PREFIX}{name}.sh"
