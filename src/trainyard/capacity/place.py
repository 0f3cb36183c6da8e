"""Where `capacity` works: region, account and files, in AWS or in the sandbox."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from trainyard.capacity.records import Records
from trainyard.cli import console, failures
from trainyard.init.conflicts import SANDBOX_REGION
from trainyard.sandboxes.session import project_of, started_sandbox
from trainyard.stack_files.installation import OWN_FILES
from trainyard.stack_files.stack_files import StackFile
from trainyard.stack_files.stacks_directory import stacks_directory
from trainyard.workspace.project import sandbox_directory
from trainyard.workspace.session import account_access
from trainyard.workspace.usual_region import usual_region


@contextlib.contextmanager
def capacity_account(*, sandbox: bool, stack_file: StackFile | None = None) -> Iterator[None]:
    """Let boto3 use the account of a stack file, of the environment, or of the sandbox.

    Raises:
        WrongUseError: there are no credentials.
    """
    if sandbox:
        started_sandbox(console.progress)
    profile = stack_file.profile if stack_file is not None else ""
    with account_access(sandbox=sandbox, profile=profile):
        yield


def region_of(given: str, *, sandbox: bool, stack_file: StackFile | None = None) -> str:
    """Return the given region, that of the stack, or that of the AWS configuration.

    Raises:
        WrongUseError: there is none.
    """
    own = stack_file.region if stack_file is not None else ""
    found = given or own or (SANDBOX_REGION if sandbox else usual_region())
    if not found:
        raise failures.WrongUseError(
            "no region is known; add --region, or set AWS_REGION or a region in your AWS profile"
        )
    return found


def records_of(stack_file: StackFile | None = None, *, sandbox: bool) -> Records:
    """Return the files of a stack, or those of the user's own directory, or of the sandbox."""
    own = stack_file.own_files if stack_file is not None else stacks_directory() / OWN_FILES
    directory = project_of(sandbox_directory()).directory if sandbox else own
    return Records(directory / "capacity")
