"""What an add-on installs in its cluster, and whether it runs.

https://docs.aws.amazon.com/eks/latest/APIReference/API_AddonIssue.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sandbox.aws.eks.store import Cluster


class AddonInstaller(Protocol):
    """Installs add-ons; `sandbox.kubernetes.addons.AddonObjects` does."""

    def install(self, cluster: str, addon: str, settings: Mapping[str, Any]) -> None:
        """Make an add-on's objects, or bring them to other settings."""
        ...

    def remove(self, cluster: str, addon: str) -> None:
        """Take them out."""
        ...

    def trouble(self, cluster: str, addon: str) -> str | None:
        """Return what does not run though it should; None where all does."""
        ...


@dataclass
class _Wiring:
    installer: AddonInstaller | None = None


_WIRING = _Wiring()


def use_addon_installer(installer: AddonInstaller | None) -> None:
    """Say what installs add-ons; None: they are ACTIVE at once, with nothing behind them."""
    _WIRING.installer = installer


def install(cluster: Cluster, addon: Mapping[str, Any]) -> None:
    """Install what an add-on consists of, with its settings."""
    if _WIRING.installer is not None:
        settings = json.loads(addon.get("configurationValues") or "{}")
        _WIRING.installer.install(cluster.name, addon["addonName"], settings)


def remove(cluster: Cluster, addon: Mapping[str, Any]) -> None:
    """Remove it."""
    if _WIRING.installer is not None:
        _WIRING.installer.remove(cluster.name, addon["addonName"])


def observe(cluster: Cluster, addon: dict[str, Any]) -> dict[str, Any]:
    """Return an add-on with the health of the moment: ACTIVE, or DEGRADED and why.

    EKS calls a new one whose pods do not run CREATING for some minutes before it gives up; here
    that is left out.
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
