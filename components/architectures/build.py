"""From a plan to its components.

Apart from the plans, which tools read in milliseconds: importing the components takes seconds.
"""

from __future__ import annotations

from typing import Protocol

import pulumi

from components.architectures.eks import EksArchitecture
from components.eks.plan import EksPlan


class Architecture(Protocol):
    """A cluster of some kind, once its resources are registered."""

    def outputs(self) -> dict[str, pulumi.Input[object]]:
        """Return what the stack exports, by name."""
        ...


ARCHITECTURES = {EksPlan: EksArchitecture}
"""Component of each architecture, by its plan."""


def build(plan: EksPlan) -> Architecture:
    """Register the resources of a plan and return the architecture."""
    return ARCHITECTURES[type(plan)](plan.name, plan)
