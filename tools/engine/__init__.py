"""Gets the programs that trainyard requires: Pulumi engine, plugins, Kubernetes programs, Slurm.

Each has the pinned version and comes from the fastest available source: a copy in the cache, the
official release with its checksum verified, or a build from the Go modules in this repository.
"""

from tools.engine.controllers import ensure_controller
from tools.engine.errors import EngineError
from tools.engine.kubernetes_programs import ensure_kubernetes
from tools.engine.plugins import (
    Plugin,
    ensure_plugins,
    parse_choices,
    read_plugins,
    write_plugins,
)
from tools.engine.progress import Progress
from tools.engine.pulumi_engine import PulumiEngine, ensure_pulumi
from tools.engine.slurm import ensure_slurm

__all__ = [
    "EngineError",
    "Plugin",
    "Progress",
    "PulumiEngine",
    "ensure_controller",
    "ensure_kubernetes",
    "ensure_plugins",
    "ensure_pulumi",
    "ensure_slurm",
    "parse_choices",
    "read_plugins",
    "write_plugins",
]
