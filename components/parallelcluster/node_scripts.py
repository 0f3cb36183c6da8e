"""Scripts that nodes run, and the permissions of nodes."""

from __future__ import annotations

import hashlib
import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from trainyard.components.catalog.instance_types import INSTANCE_TYPES, Manufacturer
from trainyard.components.catalog.parallelcluster import RESERVED_DIRECTORIES
from trainyard.components.catalog.post_install_scripts import (
    POST_INSTALL_SCRIPTS,
    script_supports,
    takes_own_directory,
)
from trainyard.components.config.parallelcluster import (
    HeadNode,
    OperatingSystem,
    ParallelClusterStackConfig,
    Queue,
    S3Access,
    Script,
)
from trainyard.components.config.problems import Review
from trainyard.components.config.storage_fields import s3_parts
from trainyard.components.naming import managed_policy_arns
from trainyard.components.package_data import data_text

_PAGES = (
    # https://docs.github.com/en/repositories/working-with-files/using-files/viewing-and-understanding-files
    (
        r"https://(?:www\.)?github\.com/([^/]+/[^/]+)/blob/(.+)",
        r"https://raw.githubusercontent.com/\1/\2",
    ),
    # https://docs.github.com/en/get-started/writing-on-github/editing-and-sharing-content-with-gists
    (r"https://gist\.github\.com/([^/]+/[0-9a-f]+)", r"https://gist.githubusercontent.com/\1/raw"),
    # https://docs.gitlab.com/user/project/repository/files/
    (r"https://gitlab\.com/(.+)/-/blob/(.+)", r"https://gitlab.com/\1/-/raw/\2"),
    (r"https://bitbucket\.org/([^/]+/[^/]+)/src/(.+)", r"https://bitbucket.org/\1/raw/\2"),
)
"""Pages that show a file, and the address of the file itself."""
_OTHER_PAGES = re.compile(
    r"https://(?:www\.)?(?:github|gitlab)\.com/[^/]+(?:/[^/]+)?/?"
    r"|https://(?:www\.)?github\.com/[^/]+/[^/]+/(?:tree|wiki|issues|pull)(?:/.*)?"
    r"|https://gitlab\.com/.+/-/tree/.*"
)
"""Pages about no single file."""
_CONSOLE = re.compile(r"https://(?:[a-z0-9-]+\.)*console\.aws\.amazon\.com/s3/object/([^/?]+)")


def file_address(address: str) -> str | None:
    """Return the address of the file that a web page shows; None for another address."""
    parts = urlsplit(address)
    query = parse_qs(parts.query)
    console = _CONSOLE.match(address)
    if console:
        prefix = query.get("prefix", [""])[0]
        return f"s3://{console[1]}/{prefix}" if prefix else None
    if "raw" in query:  # GitHub and GitLab answer with the file
        return None
    page = f"{parts.scheme}://{parts.netloc}{parts.path}"
    for pattern, file in _PAGES:
        found = re.fullmatch(pattern, page)
        if found:
            return found.expand(file)
    return None


def is_web_page(address: str) -> bool:
    """Return whether an address is that of a page for people, not of a file."""
    page = address.partition("?")[0].partition("#")[0]
    found = file_address(address) is not None or _CONSOLE.match(address) is not None
    return found or _OTHER_PAGES.fullmatch(page) is not None


def bucket_of(address: str) -> str | None:
    """Return the bucket of an object in S3; None for another address."""
    bucket, key = s3_parts(address) or ("", "")
    return bucket if key else None


def may_read(address: str, access: Iterable[S3Access], policies: Iterable[str]) -> bool:
    """Return whether the role of nodes can allow them to read an object.

    `S3Access` entries become a policy of the role, for the whole bucket without `KeyName`:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/HeadNode-v3.html#yaml-HeadNode-Iam-S3Access
    What a managed policy allows is not known here, except that those of other services have
    other names.
    """
    bucket, key = s3_parts(address) or ("", "")
    if not key or bucket.endswith("-aws-parallelcluster"):  # ParallelCluster's own
        return True
    if any("S3" in name or "Administrator" in name or "PowerUser" in name for name in policies):
        return True
    return any(
        each.bucket == bucket and (each.key is None or fnmatchcase(key, each.key))
        for each in access
    )


# The text of the built-in scripts, and their place in the bucket of the stack.
#
# ParallelCluster takes scripts from `s3://` and `https://` only. The key of a script that queues
# run contains a digest of its text: another text is another key, so that nodes of one queue never
# run different versions, and ParallelCluster replaces the nodes according to the update strategy of
# the cluster. The head node runs its scripts once in its life, and its configuration cannot change:
# its keys stay.
#
# https://docs.aws.amazon.com/parallelcluster/latest/ug/custom-bootstrap-actions-v3.html


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
    return data_text(_SOURCES / f"{name}.sh")


def queue_key(name: str) -> str:
    """Return the key of a built-in script for queues."""
    digest = hashlib.sha256(script_text(name).encode()).hexdigest()[:_DIGEST_LENGTH]
    return f"{PREFIX}{name}-{digest}.sh"


def head_node_key(name: str) -> str:
    """Return the key of a built-in script for the head node."""
    return f"{HEAD_NODE_PREFIX}{name}.sh"


# Checks of the scripts that nodes run.
#
# https://docs.aws.amazon.com/parallelcluster/latest/ug/custom-bootstrap-actions-v3.html


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
    for at, given in _scripts_of(key, node):
        script = given.script
        _review_script(at, script, config.architecture.operating_system, review)
        _review_digest(at, given, review)
        _review_own_directory(at.removesuffix(".script"), given, config, review)
        _note_access(at, script, node, review)
        if isinstance(node, Queue):
            _note_devices(at, script, node, review)
        if script in POST_INSTALL_SCRIPTS and first.setdefault(script, at) != at:
            review.note(f"{at}: `{script}` already runs at {first[script]}; remove one of the two")


def review_pyxis(config: ParallelClusterStackConfig, review: Review) -> None:
    """Refuse or note Pyxis on the head node or on queues only.

    The script of the head node gives Slurm the plugin, which adds `--container-image` to `srun`
    and `sbatch`; that of a queue configures Enroot, which starts the containers on its nodes. A
    script of the user, or an own AMI, can do either.
    https://docs.aws.amazon.com/parallelcluster/latest/ug/pyxis-v3.html
    https://github.com/NVIDIA/pyxis#setup
    """
    architecture = config.architecture
    head_node = _pyxis_of(architecture.head_node, own_ami=bool(architecture.custom_ami_id))
    queues = {
        name: _pyxis_of(queue, own_ami=bool(queue.custom_ami_id or architecture.custom_ami_id))
        for name, queue in architecture.queues.items()
    }
    having = [name for name, has in queues.items() if has]
    lacking = [name for name, has in queues.items() if has is False]
    add = "add `{{script: pyxis}}` to {}.custom_actions.on_node_configured"
    if head_node is False and having:
        review.refuse(
            "architecture.head_node.custom_actions.on_node_configured",
            f"has no `pyxis`, which queue {', '.join(having)} has: Slurm would not load the "
            "plugin, and `srun --container-image` would be an unknown option",
            allowed="`pyxis` on the head node and on the queues, or on neither",
            remedy=add.format("architecture.head_node"),
        )
    elif head_node and lacking and len(lacking) == len(queues):
        at = f"architecture.queues.{lacking[0]}"
        review.refuse(
            f"{at}.custom_actions.on_node_configured",
            "has no `pyxis`, which the head node has, and neither has any other queue: Slurm loads "
            "the plugin on nodes without Enroot's directories, and no container starts",
            allowed="`pyxis` on the head node and on the queues, or on neither",
            remedy=f"{add.format(at)}, or remove it from the head node",
        )
    elif head_node and lacking:
        review.note(
            f"architecture.queues: {', '.join(lacking)} has no `pyxis`, which the head node has: "
            f"jobs with a container image fail there; "
            f"{add.format(f'architecture.queues.{lacking[0]}')}"
        )


def _pyxis_of(node: HeadNode | Queue, *, own_ami: bool) -> bool | None:
    """Return whether a node has Pyxis; None if a script of the user or an own AMI may have it."""
    scripts = {given.script for _, given in _scripts_of("", node)}
    if any(takes_own_directory(script) for script in scripts):
        return True
    return None if own_ami or scripts - POST_INSTALL_SCRIPTS.keys() else False


def _scripts_of(key: str, node: HeadNode | Queue) -> Iterator[tuple[str, Script]]:
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


def installed_drivers(queue: Queue) -> frozenset[Manufacturer]:
    """Return whose drivers a script of the nodes installs; a script of the user can be for any."""
    scripts = {given.script for _, given in _scripts_of("", queue)}
    if scripts - POST_INSTALL_SCRIPTS.keys():
        return frozenset({"nvidia", "neuron"})
    return frozenset({"neuron"}) if "neuron" in scripts else frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptPlan:
    """A script that nodes run: at a URL of the user, or in the bucket of the stack."""

    url: str = ""
    """`https://` or `s3://`; empty for a built-in script."""
    built_in: str = ""
    """Name of a built-in script, or `VERIFIED`; empty for another one."""
    key: str = ""
    """Key of a built-in script in the bucket of the stack."""
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAccess:
    """Permissions and custom actions of nodes."""

    iam_policies: tuple[str, ...] = ()
    """ARNs of AWS managed policies."""
    s3_access: tuple[S3Access, ...] = ()
    on_node_start: tuple[ScriptPlan, ...] = ()
    on_node_configured: tuple[ScriptPlan, ...] = ()

    @property
    def built_in_scripts(self) -> tuple[ScriptPlan, ...]:
        """The scripts that the nodes read from the bucket of the stack."""
        scripts = (*self.on_node_start, *self.on_node_configured)
        return tuple(each for each in scripts if each.built_in)


def plan_access(
    node: HeadNode | Queue, region: str, *, more_policies: Sequence[str] = ()
) -> NodeAccess:
    """Return the policy ARNs, buckets and script URLs of a node.

    Args:
        node: The node in the stack file.
        region: Region of the stack.
        more_policies: Names of AWS managed policies that it needs besides its own.
    """
    return NodeAccess(
        iam_policies=managed_policy_arns((*node.iam_policies, *more_policies), region),
        s3_access=node.s3_access,
        on_node_start=_scripts(node, node.custom_actions.on_node_start),
        on_node_configured=_scripts(node, node.custom_actions.on_node_configured),
    )


def _scripts(node: HeadNode | Queue, scripts: Sequence[Script]) -> tuple[ScriptPlan, ...]:
    key_of = head_node_key if isinstance(node, HeadNode) else queue_key
    return tuple(_script(each, key_of) for each in scripts)


def _script(script: Script, key_of: Callable[[str], str]) -> ScriptPlan:
    name, arguments = script.script, script.arguments
    if script.sha256 is not None:
        name, arguments = VERIFIED, (script.script, script.sha256, *script.arguments)
    elif name not in POST_INSTALL_SCRIPTS:
        return ScriptPlan(url=name, arguments=arguments)
    return ScriptPlan(built_in=name, key=key_of(name), arguments=arguments)
