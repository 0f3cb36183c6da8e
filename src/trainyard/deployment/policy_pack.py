"""The policy pack as the engine loads it, with its configuration from the stack file."""

from __future__ import annotations

import json

from trainyard.policies.pack.stack_config import pack_config
from trainyard.stack_files.checkout import ROOT
from trainyard.stack_files.files import write_private
from trainyard.stack_files.stack_config import config_of
from trainyard.workspace.workspace import Workspace


def policy_pack(workspace: Workspace) -> list[str]:
    """Return the arguments that attach the pack, with its configuration from the stack file."""
    path = workspace.scratch / f"{workspace.stack_file.stack}.policies.json"
    content = json.dumps(pack_config(config_of(workspace.stack_file)), indent=2)
    write_private(path, content)
    return ["--policy-pack", str(ROOT / "policies"), "--policy-pack-config", str(path)]
