"""Instance types, images and placement groups in an account, as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFacts:
    """An existing AMI."""

    image_id: str
    state: str
    """EC2 value: `available`, `pending`, `failed` …"""
    architecture: str
    """`x86_64` or `arm64`."""
    root_volume_gib: int
    """Size of the snapshot of its root volume; 0 without one."""
    tags: Mapping[str, str]
    platform: str = ""
    """`PlatformDetails`, such as `Linux/UNIX`; empty if unknown."""
    name: str = ""
    from_amazon: bool = False
    """Whether AWS publishes it: `ImageOwnerAlias` is `amazon`."""
    root_device: str = ""
    """`RootDeviceName`; empty if unknown."""
    description: str = ""
    public_parameter: str = ""
    """`PublicSsmParameterName`, below `/aws/service`; empty if no public parameter leads to it."""
    source_image_id: str = ""
    """Image that it was made from; empty if unknown."""
    source_instance_id: str = ""
    """Instance that it was made from; empty for a copy of an image."""
    ena: bool = True
    """`EnaSupport`."""
    root_device_type: str = "ebs"
    """`ebs` or `instance-store`."""
    virtualization: str = "hvm"
    """`hvm` or `paravirtual`."""
    allowed: bool = True
    """`ImageAllowed`: whether it meets the criteria of Allowed AMIs."""
    needs_subscription: bool = False
    """Whether it is a product of AWS Marketplace (`ProductCodes`)."""
    unsupported_types: frozenset[str] = frozenset()
    """Instance types that its `InstanceTypeSpecification` excludes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementGroupFacts:
    """An existing placement group."""

    state: str
    """`pending`, `available`, `deleting` or `deleted`."""
    strategy: str
    """`cluster`, `spread` or `partition`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicImageFacts:
    """A container image in a public registry; it can be pulled if neither field is set."""

    missing: str | None = None
    """Why nodes cannot pull it, as the registry says."""
    unknown: str | None = None
    """Why it could not be looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeFacts:
    """An instance type, from EC2 in this region."""

    efa_interfaces: int
    """`EfaInfo.MaximumEfaInterfaces`; 0 without EFA."""
    network_cards: int
    """`MaximumNetworkCards`."""
    placement_strategies: frozenset[str]
    """`PlacementGroupInfo.SupportedStrategies`."""
    usage_classes: frozenset[str]
    """`SupportedUsageClasses`: `on-demand`, `spot`, `capacity-block`."""
