"""Where `capacity` works: region, account and files, in AWS or in the sandbox."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from trainyard.capacity.records import Records
from trainyard.cli import console, failures
from trainyard.stack_files.installation import OWN_FILES
from trainyard.stack_files.stack_files import StackFile
from trainyard.stack_files.stacks_directory import stacks_directory
from trainyard.workspace.target import Account


@contextlib.contextmanager
def capacity_account(account: Account) -> Iterator[None]:
    """Let boto3 use an account; start the sandbox if it is the account.

    Raises:
        WrongUseError: there are no credentials.
    """
    account.start(console.progress)
    with account.access():
        yield


def region_of(given: str, account: Account, stack_file: StackFile | None = None) -> str:
    """Return the given region, that of the stack, or the usual one of the account.

    Raises:
        WrongUseError: there is none.
    """
    own = stack_file.region if stack_file is not None else ""
    found = given or own or account.usual_region()
    if not found:
        raise failures.WrongUseError(
            "no region is known; add --region, or set AWS_REGION or a region in your AWS profile"
        )
    return found


def records_of(account: Account, stack_file: StackFile | None = None) -> Records:
    """Return the files of a stack, or those of the user's own directory, or of the sandbox."""
    own = stack_file.own_files if stack_file is not None else stacks_directory() / OWN_FILES
    return Records(account.capacity_directory(own))
