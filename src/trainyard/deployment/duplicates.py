"""Report objects that were created twice because a response was lost, in `up` and `destroy`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.cli import console, failures
from trainyard.engine.engine_process import EngineFailedError
from trainyard.stack_files.installation import PROJECT
from trainyard.workspace.exported_state import exported_state, resources_of
from trainyard.workspace.recovery.account import LookupAccount
from trainyard.workspace.recovery.duplicates import Duplicate, duplicates

if TYPE_CHECKING:
    from trainyard.workspace.workspace import Workspace


def tell_duplicates(workspace: Workspace) -> None:
    """List objects of the stack that are not in its state, with the commands that delete them."""
    file = workspace.stack_file
    try:
        with workspace.target.access():
            found = duplicates(
                LookupAccount(file.region, workspace.target.account.settings),
                stack=file.stack,
                project=PROJECT,
                known=lambda: _ids(workspace),
                timeouts=workspace.target.account.timeouts,
            )
    except (BotoCoreError, ClientError, EngineFailedError, failures.CommandError) as error:
        console.progress(f"could not check whether {file.stack} has duplicate objects: {error}")
        return
    if found:
        console.answer(explanation(found, stack=file.stack, region=file.region))


def explanation(found: Iterable[Duplicate], *, stack: str, region: str) -> str:
    """Return a message: which objects are not in the state, why, and how to delete them."""
    return "\n".join(
        [
            (
                f"the account has objects of {stack} that are not in its state, because a response "
                "of AWS was lost:"
            ),
            *(f"  {each.command} --region {region}  # {each.resource}" for each in found),
            (
                "nothing uses these, and no command of this stack deletes them. Run the commands "
                "above,"
            ),
            f"unless another Pulumi backend has a stack {stack} in this account",
        ]
    )


def _ids(workspace: Workspace) -> set[str]:
    state = exported_state(workspace.command, workspace.stack_file.stack)
    return {each["id"] for each in resources_of(state) if each.get("id")}
