"""The drivers of accelerators in a machine image, against the instance types that launch from it.

Nodes whose image lacks the driver start, cost and run nothing, and no AWS API refuses them. What an
image has is told by the public SSM parameter that leads to it, the name under which AWS publishes
it, the image that it was made from and, only as a hint, its own name, description and tags.

Sources:
    https://docs.aws.amazon.com/AmazonECS/latest/developerguide/retrieve-ecs-optimized_AMI.html and
    ecs-optimized_AMI.html (`gpu`, `neuron`, `inf`, `arm64`)
    https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html, ml-eks-optimized-ami.html
    (`standard`, `nvidia`, `neuron`; the accelerated AMI of Amazon Linux 2 has both drivers) and
    retrieve-ami-id-bottlerocket.html; the Bottlerocket variants for EKS without `nvidia` have the
    Neuron driver: https://aws-samples.github.io/karpenter-blueprints/blueprints/neuron-workload/
    https://docs.aws.amazon.com/dlami/latest/devguide/find-dlami-id.html and
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/dlami/index.html (Deep Learning AMIs)
    https://docs.aws.amazon.com/parallelcluster/latest/ug/pcluster.list-official-images-v3.html; the
    official images have drivers of NVIDIA and EFA, and none of Neuron:
    https://github.com/aws/aws-parallelcluster-cookbook
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Image.html: `SourceImageId`,
    `SourceInstanceId` and `PublicSsmParameterName`
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from trainyard.components.account.check import Check, Finding, as_warnings
from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.known import Known
from trainyard.components.catalog.instance_types import Architecture, InstanceType, Manufacturer
from trainyard.components.compute.facts import ImageFacts
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.problems import ROOT, Problem

_NVIDIA: frozenset[Manufacturer] = frozenset({"nvidia"})
_NEURON: frozenset[Manufacturer] = frozenset({"neuron"})
_NONE: frozenset[Manufacturer] = frozenset()
_ALL = _NVIDIA | _NEURON
MOST_SOURCES = 3
"""How many images back the origin of an image is followed."""
DRIVER_NAMES: Mapping[Manufacturer, str] = {"nvidia": "NVIDIA", "neuron": "Neuron"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageDrivers:
    """What is known of an image; a manufacturer in none of the sets is unknown."""

    has: frozenset[Manufacturer] = _NONE
    lacks: frozenset[Manufacturer] = _NONE
    hinted: frozenset[Manufacturer] = _NONE
    """What its own name, description or tags claim."""
    architecture: Architecture | None = None
    evidence: str = ""
    """Where that stands, for messages."""


@dataclass(frozen=True, slots=True)
class _Published:
    """A family of images that AWS or Canonical publishes."""

    pattern: re.Pattern[str]
    has: frozenset[Manufacturer]
    unknown: frozenset[Manufacturer] = _NONE


def _published(
    pattern: str,
    has: frozenset[Manufacturer] = _NONE,
    *,
    unknown: frozenset[Manufacturer] = _NONE,
) -> _Published:
    return _Published(re.compile(pattern, re.IGNORECASE), has, unknown)


_PARAMETERS = (
    _published(r"/ecs/optimized-ami/amazon-linux-\d+/(?:[^/]+/)?gpu/", _NVIDIA),
    _published(r"/ecs/optimized-ami/amazon-linux-\d+/(?:[^/]+/)?(?:neuron|inf)/", _NEURON),
    _published(r"/ecs/optimized-ami/"),
    _published(r"/eks/optimized-ami/[\d.]+/amazon-linux-2023/\w+/nvidia/", _NVIDIA),
    _published(r"/eks/optimized-ami/[\d.]+/amazon-linux-2023/\w+/neuron/", _NEURON),
    _published(r"/eks/optimized-ami/[\d.]+/amazon-linux-2-gpu/", _ALL),
    _published(r"/eks/optimized-ami/"),
    _published(r"/bottlerocket/aws-[^/]*-nvidia", _NVIDIA),
    _published(r"/bottlerocket/aws-k8s-", _NEURON),
    _published(r"/bottlerocket/", unknown=_NEURON),
    _published(r"/deeplearning/ami/\w+/[^/]*neuron", _NEURON),
    _published(r"/deeplearning/ami/", _NVIDIA),
    _published(r"/neuron/dlami/", _NEURON),
    _published(r"/(?:ami-amazon-linux-latest|canonical|debian|suse|redhat|ami-windows-latest)/"),
)
"""Public parameters below `/aws/service`, by the first pattern that is found."""
_NAMES = (
    _published(r"(?:al2023|amzn2)-ami-ecs-(?:[\w.]+-)*?gpu-", _NVIDIA),
    _published(r"(?:al2023|amzn2)-ami-ecs-(?:[\w.]+-)*?(?:neuron|inf)-", _NEURON),
    _published(r"(?:al2023|amzn2)-ami-ecs-"),
    _published(r"amazon-eks-node-al2023-\w+?-nvidia-", _NVIDIA),
    _published(r"amazon-eks-node-al2023-\w+?-neuron-", _NEURON),
    _published(r"amazon-eks-gpu-node-", _ALL),
    _published(r"amazon-eks-"),
    _published(r"bottlerocket-aws-.*-nvidia-", _NVIDIA),
    _published(r"bottlerocket-aws-k8s-", _NEURON),
    _published(r"bottlerocket-", unknown=_NEURON),
    _published(r"deep learning .*neuron", _NEURON),
    _published(r"deep learning .*(?:nvidia|gpu|cuda)", _NVIDIA),
    # Scripts of nodes install the driver of Neuron, so that its absence is not certain.
    _published(r"aws-parallelcluster-", _NVIDIA, unknown=_NEURON),
    _published(r"(?:al2023|amzn2)-ami-"),
    _published(r"ubuntu(?:-eks|-minimal|-pro-server)?/"),
)
"""Names of images that AWS publishes, from their beginning."""
_HINTS: Mapping[Manufacturer, re.Pattern[str]] = {
    "nvidia": re.compile(r"(?<![a-z])(?:nvidia|cuda|gpus?)(?![a-z])", re.IGNORECASE),
    "neuron": re.compile(
        r"(?<![a-z])(?:neuronx?|trainium|inferentia|trn[12]n?|inf[12])(?![a-z])", re.IGNORECASE
    ),
}
_ARCHITECTURE = re.compile(r"(?<![a-z0-9])(x86_64|amd64|arm64|aarch64)(?![a-z0-9])", re.IGNORECASE)
_SPELLINGS: Mapping[str, Architecture] = {
    "x86_64": "x86_64",
    "amd64": "x86_64",
    "arm64": "arm64",
    "aarch64": "arm64",
}
_BUILT_BY_PARALLELCLUSTER = "parallelcluster:version"


def drivers_of_parameter(path: str) -> ImageDrivers:
    """Return the drivers of the image that a public SSM parameter leads to."""
    found = next((each for each in _PARAMETERS if each.pattern.search(path)), None)
    return _known(found, path, f"the SSM parameter {path}")


def drivers_of_name(name: str) -> ImageDrivers:
    """Return the drivers of the image that AWS publishes under a name."""
    found = next((each for each in _NAMES if each.pattern.match(name)), None)
    return _known(found, name, f"the name {name}, under which AWS publishes it")


def _known(found: _Published | None, text: str, evidence: str) -> ImageDrivers:
    architecture = _ARCHITECTURE.search(text)
    known = _SPELLINGS[architecture[1].lower()] if architecture else None
    if found is None:
        return ImageDrivers(architecture=known)
    return ImageDrivers(
        has=found.has,
        lacks=_ALL - found.has - found.unknown,
        architecture=known,
        evidence=evidence,
    )


def drivers_of_image(
    image: ImageFacts, images: Mapping[str, ImageFacts], *, sources: int = MOST_SOURCES
) -> ImageDrivers:
    """Return the drivers of an existing image.

    Args:
        image: The image.
        images: Images by id, with those that it was made from as far as they could be read.
        sources: How many images back to look.
    """
    if image.public_parameter:
        return drivers_of_parameter(f"/{image.public_parameter.lstrip('/')}")
    if image.from_amazon:
        return drivers_of_name(image.name)
    source = images.get(image.source_image_id)
    if source is not None and sources:
        made_from = drivers_of_image(source, images, sources=sources - 1)
        if made_from.has or made_from.lacks:
            return _made_from(source, made_from, image)
    return _claimed(image)


def _made_from(source: ImageFacts, origin: ImageDrivers, image: ImageFacts) -> ImageDrivers:
    """Return the drivers of a copy, which are those of its source, or of an image of an instance.

    Somebody can have installed more on the instance, or removed a driver.
    """
    evidence = f"its source {source.image_id}, by {origin.evidence}"
    if not image.source_instance_id:
        return ImageDrivers(has=origin.has, lacks=origin.lacks, evidence=evidence)
    hinted = origin.has | _claimed(image).hinted
    return ImageDrivers(hinted=hinted, evidence=evidence)


def _claimed(image: ImageFacts) -> ImageDrivers:
    text = " ".join((image.name, image.description, *image.tags.values()))
    hinted = frozenset[Manufacturer](
        each for each, pattern in _HINTS.items() if pattern.search(text)
    )
    if hinted:
        said = image.name or image.description or "its tags"
        return ImageDrivers(hinted=hinted, evidence=f"its own name, description and tags ({said})")
    if _BUILT_BY_PARALLELCLUSTER in image.tags:
        # Official images, which are the usual parents of built ones, have NVIDIA's driver.
        evidence = f"its tag {_BUILT_BY_PARALLELCLUSTER}"
        return ImageDrivers(hinted=_NVIDIA, evidence=evidence)
    return ImageDrivers()


def wrong_architecture(
    types: Iterable[InstanceType], architecture: str | None
) -> tuple[InstanceType, ...]:
    """Return the instance types that cannot run an image of an architecture; none if unknown."""
    if not architecture:
        return ()
    return tuple(each for each in types if each.architecture != architecture)


def needed_driver(instance_type: InstanceType) -> Manufacturer | None:
    """Return whose driver the accelerators of a type need; None without accelerators."""
    return instance_type.accelerators.manufacturer if instance_type.accelerators else None


# What keeps EC2 from launching an image at all.
#
# Sources:
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Image.html
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/enhanced-networking-ena.html: types of the
#     Nitro System, as all with EFA and current accelerators, need an image with ENA
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-allowed-amis.html
AVAILABLE = "available"


def launch_problems(
    path: str, image: ImageFacts, types: Iterable[InstanceType]
) -> Iterator[Problem]:
    """Yield why EC2 would not launch instance types from an AMI of a stack file.

    Args:
        path: Key of the AMI in the stack file, from its root.
        image: The AMI.
        types: The instance types that launch from it.
    """
    known = {each.name: each for each in types}
    wrong = wrong_architecture(known.values(), image.architecture)
    if image.state != AVAILABLE:
        yield Problem(
            path=path,
            found=f"{image.image_id}, state {image.state}",
            problem="EC2 launches no instance from this AMI in its current state",
            allowed="an image that is available",
            remedy="wait until it is available, or use another AMI",
        )
    if wrong:
        names = ", ".join(sorted(each.name for each in wrong))
        yield Problem(
            path=path,
            found=f"{image.image_id}, for {image.architecture}",
            problem=f"{names} cannot run it: the image is for a different architecture",
            allowed=f"an image for {wrong[0].architecture}",
            remedy="use another AMI, or other instance types",
        )
    excluded = sorted(image.unsupported_types & known.keys())
    for found, fault, allowed in (*_registration_faults(image), *_exclusions(excluded)):
        yield Problem(
            path=path,
            found=f"{image.image_id}, {found}",
            problem=fault,
            allowed=allowed,
            remedy="use another AMI",
        )


_Fault: TypeAlias = tuple[str, str, str]
"""What was found, why it prevents launches, and what is allowed."""


def _exclusions(types: Sequence[str]) -> Iterator[_Fault]:
    if types:
        names = ", ".join(types)
        yield f"not for {names}", "its owner excludes these types", f"an image for {names}"


def _registration_faults(image: ImageFacts) -> Iterator[_Fault]:
    """Yield how an image is registered so that nodes do not launch from it."""
    if not image.allowed:
        yield (
            "not allowed",
            "EC2 launches nothing that does not meet the criteria of Allowed AMIs of this account",
            "an image of a provider that `aws ec2 get-allowed-images-settings` lists",
        )
    if not image.ena:
        yield (
            "without ENA",
            "EC2 refuses to launch current instance types from an image without EnaSupport",
            "an image that is registered with EnaSupport",
        )
    if image.root_device_type != "ebs":
        yield (
            f"root device {image.root_device_type}",
            "its root device is no EBS volume, which the root volume of the nodes is",
            "an image whose root device is an EBS volume",
        )
    if image.virtualization != "hvm":
        yield (
            f"virtualization {image.virtualization}",
            "current instance types launch from images with hardware virtualization only",
            "an image with the virtualization type hvm",
        )
    if image.platform.startswith("Windows"):
        yield image.platform, "the nodes of the stack run Linux", "an image of Linux"


# The checks of drivers. An image that a parameter or a published name leads to is judged with the
# plan alone, the AMI of a stack file when the account has described it.


def planned_image_checks(known: Known[Any, Any]) -> Iterator[Finding]:
    """Yield what is wrong with images that the plan selects by a parameter or a name."""
    problems: list[Problem] = []
    warnings: list[str] = []
    for pool in known.plan.node_pools:
        source = pool.image
        if source.parameter:
            drivers = drivers_of_parameter(source.parameter)
        elif source.name:
            drivers = drivers_of_name(source.name)
        else:
            continue
        problems += _wrong_planned(pool, drivers)
        warnings += _unsure(pool, str(source), drivers)
    yield Check("drivers of images", problems)
    yield from dict.fromkeys(warnings)


def _wrong_planned(pool: NodePoolPlan, drivers: ImageDrivers) -> Iterator[Problem]:
    if wrong_architecture([pool.instance_type], drivers.architecture):
        yield Problem(
            path=f"{ROOT}.{pool.key}.instance_type",
            found=f"{pool.instance_type.name}, from {pool.image}",
            problem=f"the image of the nodes is for {drivers.architecture}, and the type is not",
            remedy="choose another instance type",
        )
    yield from _lacking(pool, str(pool.image), drivers)


def custom_image_checks(known: Known[Any, Any]) -> Iterator[Finding]:
    """Yield what is wrong with the AMIs of a stack file, as the account describes them."""
    facts: AccountFacts = known.facts
    problems: list[Problem] = []
    warnings: list[str] = []
    for pool in known.plan.node_pools:
        image = facts.images.get(pool.image.image_id or "")
        if image is None:
            continue
        if image.needs_subscription:
            warnings.append(
                f"{pool.image_key}: {image.image_id} is a product of AWS Marketplace; without a "
                "subscription of this account, launches fail with OptInRequired"
            )
        drivers = drivers_of_image(image, facts.images)
        shown = f"{image.image_id}, {image.name}" if image.name else image.image_id
        problems += _lacking(pool, shown, drivers)
        warnings += _unsure(pool, shown, drivers)
    check = Check("drivers of images", problems)
    # The nodes of a stack that is up run already, so that an update without a change must work.
    if known.is_up:
        yield from as_warnings(check.problems)
    else:
        yield check
    yield from dict.fromkeys(warnings)


def _lacking(pool: NodePoolPlan, shown: str, drivers: ImageDrivers) -> Iterator[Problem]:
    """Yield a problem if it is certain that nodes would run without their driver."""
    needed = needed_driver(pool.instance_type)
    if needed is None or needed not in drivers.lacks or pool.may_install(needed):
        return
    has = " and ".join(DRIVER_NAMES[each] for each in sorted(drivers.has))
    driver = DRIVER_NAMES[needed]
    yield Problem(
        path=f"{ROOT}.{pool.image_key}",
        found=f"{shown} for {pool.instance_type.name}",
        problem=(
            f"this image has {f'the driver of {has}, and not that' if has else 'no driver'} of "
            f"{driver}, as {drivers.evidence} says; the nodes would start and cost, and no job "
            "would find an accelerator"
        ),
        allowed=f"an image with the {driver} driver",
        remedy=pool.driver_remedy(needed),
    )


def _unsure(pool: NodePoolPlan, shown: str, drivers: ImageDrivers) -> Iterator[str]:
    """Yield a warning if nothing shows that nodes have their driver."""
    needed = needed_driver(pool.instance_type)
    if needed is None or needed in drivers.has | drivers.hinted or pool.may_install(needed):
        return
    driver = DRIVER_NAMES[needed]
    if needed in drivers.lacks:
        return  # a problem: `_lacking`
    if drivers.has:
        has = " and ".join(DRIVER_NAMES[each] for each in sorted(drivers.has))
        said = f"has the driver of {has}, and nothing shows that it has that of {driver}"
    elif drivers.hinted:
        others = " and ".join(DRIVER_NAMES[each] for each in sorted(drivers.hinted))
        said = f"is one for {others} by {drivers.evidence}, and may have no {driver} driver"
    else:
        said = f"shows nowhere that it has the {driver} driver"
    yield (
        f"{pool.image_key}: the image {shown} of {pool.instance_type.name} {said}; without it, "
        f"the nodes start and cost, and no job finds an accelerator: {pool.driver_remedy(needed)}"
    )
