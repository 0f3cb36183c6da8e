"""What the wheel takes from the root of the repository, for the builder `hatchling`.

A source distribution has no links, so the wheel takes the folders that the links in `src/trainyard`
lead to: https://hatch.pypa.io/latest/plugins/build-hook/custom/
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDERS = ("components", "policies", "sandbox")
FILES = {
    "requirements/parallelcluster.txt": "trainyard/requirements/parallelcluster.txt",
    "trainyard_state.py": "trainyard_state.py",
}
PATTERNS = {
    "Pulumi.*.yaml": "trainyard/examples",
    "docs/*.md": "trainyard/docs",
    "docs/schema/*.json": "trainyard/docs/schema",
    "examples/pretrain/*": "trainyard/examples/pretrain",
}
"""Files of the root, with their directory in the wheel."""
FOR_DEVELOPERS = {
    *("corpus.md", "first-contact.md", "performance.md", "pictures.md", "real-providers.md"),
    *("parity-batch.md", "parity-eks.md", "parity-parallelcluster.md"),
}
"""Documents that no text of the program names."""


class PackageFiles(BuildHookInterface[Any]):
    """Adds the files to the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the source and the place of each file.

        Args:
            version: `standard`, or `editable`, whose links are those of the clone.
            build_data: What the builder reads, which is changed.
        """
        if version == "editable":
            return
        root = Path(self.root)
        included: dict[str, str] = build_data["force_include"]
        included |= {str(root / name): f"trainyard/{name}" for name in FOLDERS}
        included |= {str(root / name): place for name, place in FILES.items()}
        for pattern, place in PATTERNS.items():
            paths = (path for path in root.glob(pattern) if path.is_file())
            included |= {
                str(path): f"{place}/{path.name}"
                for path in paths
                if path.name not in FOR_DEVELOPERS
            }
