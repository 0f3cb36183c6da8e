"""The objects of an add-on in its cluster, and its health.

https://docs.aws.amazon.com/eks/latest/APIReference/API_AddonIssue.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from trainyard.sandbox.aws.eks.store import Cluster


class AddonInstaller(Protocol):
    """Installs add-ons; implemented by `trainyard.sandbox.kubernetes.addons.AddonObjects`."""

    def install(self, cluster: str, addon: str, settings: Mapping[str, Any]) -> None:
        """Create an add-on's objects, or update them to new settings."""
        ...

    def remove(self, cluster: str, addon: str) -> None:
        """Remove its objects."""
        ...

    def trouble(self, cluster: str, addon: str) -> str | None:
        """Return which part does not run; None if all parts run."""
        ...


@dataclass
class _Wiring:
    installer: AddonInstaller | None = None


_WIRING = _Wiring()


def use_addon_installer(installer: AddonInstaller | None) -> None:
    """Set what installs add-ons; None makes them ACTIVE at once, without objects."""
    _WIRING.installer = installer


def install(cluster: Cluster, addon: Mapping[str, Any]) -> None:
    """Install the objects of an add-on, with its settings."""
    if _WIRING.installer is not None:
        settings = json.loads(addon.get("configurationValues") or "{}")
        _WIRING.installer.install(cluster.name, addon["addonName"], settings)


def remove(cluster: Cluster, addon: Mapping[str, Any]) -> None:
    """Remove its objects."""
    if _WIRING.installer is not None:
        _WIRING.installer.remove(cluster.name, addon["addonName"])


def observe(cluster: Cluster, addon: dict[str, Any]) -> dict[str, Any]:
    """Return an add-on with its current health: ACTIVE, or DEGRADED with the reason.

    In EKS, a new add-on whose pods do not run is CREATING for some minutes first; that is not
    emulated.
    """
    if addon["status"] in ("CREATING", "DELETING"):
        return addon
    if _WIRING.installer is None or cluster.fields["status"] != "ACTIVE":
        return addon
    trouble = _WIRING.installer.trouble(cluster.name, addon["addonName"])
    issues: list[dict[str, Any]] = []
    if trouble is not None:
        issues = [
            {"code": "InsufficientNumberOfReplicas", "message": trouble, "resourceIds": []},
        ]
    addon.update(status="DEGRADED" if issues else "ACTIVE", health={"issues": issues})
    return addon
