"""Checks of the scripts that nodes run.

https://docs.aws.amazon.com/parallelcluster/latest/ug/custom-bootstrap-actions-v3.html
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.parallelcluster import RESERVED_DIRECTORIES
from trainyard.components.catalog.post_install_scripts import (
    POST_INSTALL_SCRIPTS,
    script_supports,
    takes_own_directory,
)
from trainyard.components.config.parallelcluster import OperatingSystem
from trainyard.components.config.parallelcluster_nodes import HeadNode, Queue, Script
from trainyard.components.config.parallelcluster_stack import ParallelClusterStackConfig
from trainyard.components.config.review import Review
from trainyard.components.parallelcluster.script_address import (
    bucket_of,
    file_address,
    is_web_page,
    may_read,
)

_S3_OBJECT = r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/.+"
"""`s3_validators.py`, `UrlValidator`, and
https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html"""
HOME = "/home"
"""ParallelCluster shares it from the head node unless a storage entry is mounted there.
https://docs.aws.amazon.com/parallelcluster/latest/ug/directories-v3.html"""
_DEVICES = {"neuron": "neuron", "nccl": "nvidia"}
"""Manufacturer of the devices that a built-in script is for."""


def review_access(
    key: str, node: HeadNode | Queue, config: ParallelClusterStackConfig, review: Review
) -> None:
    """Record problems of the scripts of a head node or a queue, at `key`."""
    first: dict[str, str] = {}
    for at, given in _scripts(key, node):
        script = given.script
        _review_script(at, script, config.architecture.operating_system, review)
        _review_digest(at, given, review)
        _review_own_directory(at.removesuffix(".script"), given, config, review)
        _note_access(at, script, node, review)
        if isinstance(node, Queue):
            _note_devices(at, script, node, review)
        if script in POST_INSTALL_SCRIPTS and first.setdefault(script, at) != at:
            review.note(f"{at}: `{script}` already runs at {first[script]}; remove one of the two")


def _scripts(key: str, node: HeadNode | Queue) -> Iterator[tuple[str, Script]]:
    actions = node.custom_actions
    for event, scripts in (
        ("on_node_start", actions.on_node_start),
        ("on_node_configured", actions.on_node_configured),
    ):
        for index, each in enumerate(scripts):
            yield f"{key}.custom_actions.{event}[{index}].script", each


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
    elif is_web_page(script):
        file = file_address(script)
        review.refuse(
            key,
            "is the address of a web page, which nodes would run as a script, so that they fail "
            "to start",
            found=script,
            allowed="the address of the file itself",
            remedy=review.set_command(key, file) if file else "give the raw address of the file",
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


def _review_digest(key: str, script: Script, review: Review) -> None:
    at = f"{key.removesuffix('.script')}.sha256"
    if script.script in POST_INSTALL_SCRIPTS:
        if script.sha256 is not None:
            review.refuse(
                at,
                f"is for a script at a URL; the program has the text of `{script.script}`",
                found=script.sha256,
                allowed="no digest",
                remedy=review.remove_command(at),
            )
    elif script.sha256 is None:
        review.note(
            f"{key}: each node downloads {script.script} when it starts, and runs whatever it is "
            f"then as root; set {at} to the digest that `sha256sum` prints for the file"
        )


def _review_own_directory(
    key: str, script: Script, config: ParallelClusterStackConfig, review: Review
) -> None:
    """Refuse a directory with other files where a script changes its mode."""
    if not script.arguments or not takes_own_directory(script.script):
        return
    directory = posixpath.normpath(script.arguments[0])
    # AWS's script changes all files in it.
    makes, runs = (
        ("makes", "`chmod 1777`")
        if script.script in POST_INSTALL_SCRIPTS
        else ("makes every file in", "`chmod -R 1777`")
    )
    mounted = {each.mount_directory for each in config.storage.values()}
    shared = sorted({HOME, *filter(None, mounted)})
    taken = next((each for each in shared if _contains(directory, each)), None)
    within = next((each for each in shared if _contains(each, directory)), None)
    if taken is not None:
        why = (
            f"{makes} {taken}, which all nodes share, writable for everybody: the script runs "
            f"{runs} on this directory whenever a node starts"
        )
    elif within is not None:
        why = (
            f"lies in {within}, which all nodes share: Enroot unpacks the containers of all nodes "
            "into the same directories, and they overwrite each other"
        )
    elif directory in RESERVED_DIRECTORIES | {"/"}:
        why = (
            "is a directory of the operating system, and becomes writable for everybody: the "
            f"script runs {runs} on it whenever a node starts"
        )
    else:
        return
    review.refuse(
        f"{key}.arguments[0]",
        why,
        found=script.arguments[0],
        allowed="no argument, or a new directory on a local disk, such as /scratch/enroot",
        remedy=review.remove_command(f"{key}.arguments"),
    )


def _contains(directory: str, other: str) -> bool:
    return f"{other}/".startswith(f"{directory.rstrip('/')}/")


def _note_access(key: str, script: str, node: HeadNode | Queue, review: Review) -> None:
    """Note a script in a bucket that only a policy of the bucket could let the nodes read."""
    if not may_read(script, node.s3_access, node.iam_policies):
        owner = key.partition(".custom_actions")[0]
        review.note(
            f"{key}: neither `s3_access` nor `iam_policies` lets the nodes read it; unless the "
            "bucket's own policy does, they fail to start: add "
            f"`{{bucket: {bucket_of(script)}}}` to {owner}.s3_access"
        )


def _note_devices(key: str, script: str, queue: Queue, review: Review) -> None:
    wanted = _DEVICES.get(script)
    found = [INSTANCE_TYPES.get(each.instance_type) for each in queue.compute_resources.values()]
    types = [each for each in found if each is not None]
    if wanted is None or len(types) < len(found):
        return  # an unknown type is refused separately
    made_by = {each.accelerators.manufacturer for each in types if each.accelerators is not None}
    if wanted not in made_by:
        names = ", ".join(sorted({each.name for each in types}))
        devices = "Neuron devices" if wanted == "neuron" else "NVIDIA GPUs"
        review.note(
            f"{key}: `{script}` is for {devices}, and {names} has none; remove it from this queue"
        )
