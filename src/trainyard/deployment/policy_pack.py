"""The policy pack as the engine loads it, with its configuration from the stack file."""

from __future__ import annotations

import json
from pathlib import Path

from trainyard.components.capacity.lookup import reads_provenance, with_provenance
from trainyard.components.config.stack import StackConfig
from trainyard.policies.pack.stack_config import pack_config
from trainyard.stack_files.files import write_private
from trainyard.stack_files.installation import INSTALLATION
from trainyard.stack_files.stack_config import config_of
from trainyard.stack_files.stacks_directory import PACK_FILE, PACK_PROGRAM_TEXT, pack_text
from trainyard.workspace.workspace import Workspace


def policy_pack(workspace: Workspace) -> list[str]:
    """Return the arguments that attach the pack, with its configuration from the stack file.

    What `provenance: auto` stands for is read from the account, as the program does: the pack would
    refuse the placement group of a reservation that nothing declares as own.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    path = workspace.scratch / f"{workspace.stack_file.stack}.policies.json"
    config: StackConfig = config_of(workspace.stack_file)
    if reads_provenance(config):
        with workspace.target.access():
            config = with_provenance(config, workspace.target.reader())
    content = json.dumps(pack_config(config), indent=2)
    write_private(path, content)
    return ["--policy-pack", str(_folder(workspace.scratch)), "--policy-pack-config", str(path)]


def _folder(scratch: Path) -> Path:
    """Return the folder of the pack; without a clone, one that runs in this environment."""
    if INSTALLATION.clone is not None:
        return INSTALLATION.clone / "policies"
    folder = scratch / "policies"
    folder.mkdir(exist_ok=True, mode=0o700)
    write_private(folder / PACK_FILE, pack_text(str(INSTALLATION.environment)))
    write_private(folder / "__main__.py", PACK_PROGRAM_TEXT)
    return folder
