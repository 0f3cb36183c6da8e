"""Checks of the custom AMIs of a ParallelCluster stack.

Source: `AmiOsCompatibleValidator`, `CustomAmiTagValidator`, `RootVolumeSizeValidator` and
`InstanceTypeBaseAMICompatibleValidator` of aws-parallelcluster 3.16.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.components.account.facts import AccountFacts
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.versions import PARALLELCLUSTER_VERSION
from trainyard.components.compute.facts import ImageFacts
from trainyard.components.compute.image_drivers import launch_problems
from trainyard.components.config.parallelcluster import ParallelClusterArchitecture
from trainyard.components.config.problems import ROOT, Problem

VERSION_TAG = "parallelcluster:version"
SYSTEM_TAG = "parallelcluster:os"
BUILD_STATUS_TAG = "parallelcluster:build_status"
"""Tag that `pcluster build-image` sets. AMIs shared by another account do not have it.

https://docs.aws.amazon.com/parallelcluster/latest/ug/building-custom-ami-v3.html
"""
_BUILD = (
    "build one with ParallelCluster {version}: `pcluster build-image --image-id NAME "
    "--image-configuration FILE`, or remove custom_ami_id to use ParallelCluster's own image"
)


@dataclass(frozen=True, slots=True)
class _Use:
    """An AMI and the nodes that use it."""

    path: str
    """Key of `custom_ami_id`."""
    image_id: str
    instance_types: tuple[str, ...]
    root_volumes_gib: tuple[tuple[str, int], ...]
    """Keys and sizes of the root volumes."""


def image_problems(
    architecture: ParallelClusterArchitecture, facts: AccountFacts
) -> Iterator[Problem]:
    """Yield why nodes would not start from the AMIs in the stack file."""
    if not facts.could_read("ec2:DescribeImages"):
        return
    for use in _uses(architecture):
        found = facts.images.get(use.image_id)
        if found is None:
            yield Problem(
                path=use.path,
                found=use.image_id,
                problem="this image does not exist in this region, or is not shared with you",
                remedy="set the id of an AMI in this region (`pcluster list-images`)",
            )
            continue
        yield from _origin_problems(use, found, architecture)
        yield from _fit_problems(use, found)


def image_warnings(architecture: ParallelClusterArchitecture, facts: AccountFacts) -> Iterator[str]:
    """Yield AMIs without a sign that ParallelCluster built them."""
    for use in _uses(architecture):
        found = facts.images.get(use.image_id)
        missing = [tag for tag in (VERSION_TAG, SYSTEM_TAG) if found and tag not in found.tags]
        if missing:
            yield (
                f"image {use.image_id} has no tag {' and '.join(missing)}, so it is unknown "
                f"whether ParallelCluster {PARALLELCLUSTER_VERSION} built it for "
                f"{architecture.operating_system}; if not, the cluster creation fails"
            )


def _uses(architecture: ParallelClusterArchitecture) -> Iterator[_Use]:
    at = f"{ROOT}.architecture"
    shared = [
        (name, queue) for name, queue in architecture.queues.items() if queue.custom_ami_id is None
    ]
    if architecture.custom_ami_id is not None:
        head = architecture.head_node
        types = [r.instance_type for _, q in shared for r in q.compute_resources.values()]
        volumes = [(f"queues.{name}", queue.root_volume.size_gib) for name, queue in shared]
        yield _Use(
            path=f"{at}.custom_ami_id",
            image_id=architecture.custom_ami_id,
            instance_types=(head.instance_type, *types),
            root_volumes_gib=(("head_node", head.root_volume.size_gib), *volumes),
        )
    for name, queue in architecture.queues.items():
        if queue.custom_ami_id is not None:
            yield _Use(
                path=f"{at}.queues.{name}.custom_ami_id",
                image_id=queue.custom_ami_id,
                instance_types=tuple(r.instance_type for r in queue.compute_resources.values()),
                root_volumes_gib=((f"queues.{name}", queue.root_volume.size_gib),),
            )


def _origin_problems(
    use: _Use, found: ImageFacts, architecture: ParallelClusterArchitecture
) -> Iterator[Problem]:
    build = _BUILD.format(version=PARALLELCLUSTER_VERSION)
    version = found.tags.get(VERSION_TAG)
    if version is not None and version != PARALLELCLUSTER_VERSION:
        yield Problem(
            path=use.path,
            found=f"{use.image_id}, built by ParallelCluster {version}",
            problem="a cluster needs an AMI of its own ParallelCluster version",
            allowed=f"an image with the tag {VERSION_TAG}={PARALLELCLUSTER_VERSION}",
            remedy=build,
        )
    elif version is not None and BUILD_STATUS_TAG not in found.tags:
        yield Problem(
            path=use.path,
            found=f"{use.image_id}, without the tag {BUILD_STATUS_TAG}",
            problem="ParallelCluster rejects an AMI without a tag that its build completed",
            allowed=f"an image with the tag {BUILD_STATUS_TAG}=available",
            remedy="check its build (`pcluster describe-image`), or use another AMI",
        )
    system = found.tags.get(SYSTEM_TAG)
    if system is not None and system != architecture.operating_system:
        yield Problem(
            path=use.path,
            found=f"{use.image_id}, of {system}",
            problem=f"the nodes of the cluster run {architecture.operating_system}",
            allowed=f"an image with the tag {SYSTEM_TAG}={architecture.operating_system}",
            remedy=f"set operating_system to {system} for a new cluster, or use another AMI",
        )


def _fit_problems(use: _Use, found: ImageFacts) -> Iterator[Problem]:
    known = [INSTANCE_TYPES[name] for name in use.instance_types if name in INSTANCE_TYPES]
    yield from launch_problems(use.path, found, known)
    for key, size_gib in use.root_volumes_gib:
        if size_gib < found.root_volume_gib:
            yield Problem(
                path=f"{ROOT}.architecture.{key}.root_volume.size_gib",
                found=size_gib,
                problem=f"the image {use.image_id} needs {found.root_volume_gib} GiB",
                allowed=f"{found.root_volume_gib} or more",
                remedy=f"set it to {found.root_volume_gib} or more",
            )
