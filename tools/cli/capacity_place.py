"""Where `capacity` works: region, account and files, in AWS or in the sandbox."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tools.capacity.records import Records
from tools.cli import console, failures
from tools.cli.sandbox_session import project_of, started_sandbox
from tools.cli.session import account_access
from tools.cli.usual_region import usual_region
from tools.stack_creation.option_conflicts import SANDBOX_REGION
from tools.workspace.checkout import OWN_FILES
from tools.workspace.project import sandbox_directory
from tools.workspace.stack_files import StackFile
from tools.workspace.stacks_directory import stacks_directory


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
    own = stack_file.own_files if stack_file is not None else stacks_directory() / OWN_FILES.name
    directory = project_of(sandbox_directory()).directory if sandbox else own
    return Records(directory / "capacity")
