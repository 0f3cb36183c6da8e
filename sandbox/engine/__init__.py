"""Gets the programs that trainyard requires: Pulumi engine, plugins, Kubernetes programs, Slurm.

Each has the pinned version and comes from the fastest available source: a copy in the cache, the
official release with its checksum verified, or a build from the Go modules in this repository.
"""

from trainyard.sandbox.engine.controllers import ensure_controller
from trainyard.sandbox.engine.errors import EngineError
from trainyard.sandbox.engine.kubernetes_programs import ensure_kubernetes
from trainyard.sandbox.engine.plugins import (
    Plugin,
    ensure_plugins,
    parse_choices,
    read_plugins,
    write_plugins,
)
from trainyard.sandbox.engine.progress import Progress
from trainyard.sandbox.engine.pulumi_engine import install_pulumi
from trainyard.sandbox.engine.slurm import ensure_slurm

__all__ = [
    "EngineError",
    "Plugin",
    "Progress",
    "ensure_controller",
    "ensure_kubernetes",
    "ensure_plugins",
    "ensure_slurm",
    "install_pulumi",
    "parse_choices",
    "read_plugins",
    "write_plugins",
]
