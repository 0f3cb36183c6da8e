"""The checkout of trainyard, and the Pulumi projects elsewhere that run its program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
"""The checkout, which contains the program and the example stack files."""

OWN_FILES = ROOT / ".trainyard"
"""Directory of the commands in the checkout; git ignores it."""
PROJECT = "trainyard"
"""Name of the Pulumi project, which is part of the URN of every resource."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A checkout, for functions that read or write files in it."""

    root: Path

    @property
    def own_files(self) -> Path:
        """Directory of the commands in the checkout."""
        return self.root / OWN_FILES.name


CHECKOUT = Checkout(ROOT)
"""The checkout that contains this module."""


def project_content(checkout: Checkout = CHECKOUT) -> dict[str, Any]:
    """Return the content of a `Pulumi.yaml` outside of the checkout that runs its program.

    `main` and `virtualenv` are absolute:
    https://www.pulumi.com/docs/iac/concepts/projects/project-file/
    """
    return {
        "name": PROJECT,
        "description": "Generated; the program is the checkout's.",
        "main": str(checkout.root),
        "runtime": {
            "name": "python",
            "options": {"toolchain": "pip", "virtualenv": str(checkout.root / ".venv")},
        },
    }
