"""From the name of a stack to a workspace in which the engine can run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from trainyard.cli import console, failures
from trainyard.cli.command_line import at_the_end
from trainyard.engine.engine_process import PulumiCommand
from trainyard.engine.environment import (
    account_environment,
    process_environment,
    profile_environment,
)
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.sandboxes.client import account_ids
from trainyard.sandboxes.session import project_of, running_sandbox, started_sandbox
from trainyard.stack_files.completion import overruled, sandbox_completion
from trainyard.stack_files.installation import INSTALLATION
from trainyard.stack_files.moved_checkout import follow_checkout
from trainyard.stack_files.stack_files import EKS, PARALLELCLUSTER, StackFile
from trainyard.workspace.aws_cli import require_aws_cli
from trainyard.workspace.backend import StackMissingError, backend_variables, offer_stack
from trainyard.workspace.locks import hold_lock, refuse_taken, release_lock
from trainyard.workspace.project import sandbox_directory
from trainyard.workspace.recovery.leftovers import marked
from trainyard.workspace.workspace import AccountWorkspace, Workspace


@contextlib.contextmanager
def account_access(*, sandbox: bool, profile: str = "") -> Iterator[None]:
    """Let boto3 in this process use the account: the sandbox's, or the user's own.

    Args:
        sandbox: Whether it is the sandbox's.
        profile: The AWS profile in the stack file, which the engine also uses.

    Raises:
        WrongUseError: there are no credentials.
    """
    if not sandbox:
        with process_environment(profile_environment(os.environ, profile)):
            require_credentials()
            yield
        return
    with process_environment(running_sandbox().aws_environment()):
        yield


def require_credentials() -> None:
    """Raise an error if there are no AWS credentials.

    Raises:
        WrongUseError: the environment, the files and the instance have no credentials.
    """
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session

    try:
        credentials = Session().get_credentials()
    except BotoCoreError as error:
        raise failures.WrongUseError(
            f"the AWS credentials cannot be used: {error}; correct them, or add --sandbox to run "
            "without an account"
        ) from error
    if credentials is None:
        raise failures.WrongUseError(
            "no AWS credentials found; nothing was done\n"
            "  searched: AWS_ACCESS_KEY_ID, AWS_PROFILE, the files ~/.aws/credentials and "
            "~/.aws/config,\n             container and instance credentials\n"
            "  to log in: `aws configure sso`, then `aws sso login`, or set AWS_PROFILE\n"
            "  to run without an account: add --sandbox"
        )


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a command requires of its workspace."""

    checks_config: bool
    """Whether the program will run, so that its configuration must be valid."""
    command: str = ""
    """The command that may change the state, such as `up`. It locks the stack and cleans up engine
    locks and leftover processes. Empty for a read-only command, which may run in parallel."""


def open_workspace(stack_file: StackFile, purpose: Purpose, *, sandbox: bool) -> Workspace:
    """Return a workspace for the stack; install, start and check what it requires.

    Raises:
        ConfigError: the configuration is invalid; nothing was started.
        StackLockedError: another command holds the lock of the stack.
        NotLoggedInError: no login to a Pulumi backend.
        StackMissingError: the Pulumi backend does not have the stack.
        WrongUseError: no credentials, no passphrase, or no AWS CLI for an EKS stack.
    """
    if purpose.checks_config:
        from trainyard.stack_files.stack_config import plan_of

        plan_of(stack_file)
    if purpose.command:
        work_alone(stack_file, purpose.command, sandbox=sandbox)
    workspace = _sandbox(stack_file) if sandbox else _account(stack_file)
    if purpose.checks_config:
        if sandbox:
            _tell_foreign_ids(stack_file)
        from trainyard.checks.account_check import refuse_wrong_account

        with account_access(sandbox=sandbox, profile=stack_file.profile):
            refuse_wrong_account(stack_file, sandbox=sandbox)
    if purpose.checks_config or purpose.command:
        _prepare(workspace, purpose)
    return workspace


def _prepare(workspace: Workspace, purpose: Purpose) -> None:
    changes = bool(purpose.command)
    try:
        workspace.prepare(changes=changes, report=console.progress)
    except StackMissingError:
        # There is nothing to destroy or refresh in a stack that does not exist.
        if not (purpose.checks_config and console.at_a_terminal()):
            raise
        offer_stack(workspace)
        workspace.prepare(changes=changes, report=console.progress)


def work_alone(stack_file: StackFile, command: str, *, sandbox: bool) -> None:
    """Lock the stack until this command ends.

    Raises:
        StackLockedError: another command holds the lock.
    """
    path = _lock_file(stack_file, sandbox=sandbox)
    try:
        hold_lock(path, stack=stack_file.stack, command=command)
    except OSError:
        # The directory is read-only; only the lock of the engine's backend remains.
        if sandbox:
            raise
        return
    at_the_end(lambda: release_lock(path))


@contextmanager
def working_alone(stack_file: StackFile, command: str, *, sandbox: bool) -> Iterator[None]:
    """Lock the stack while the block runs.

    Raises:
        StackLockedError: another command holds the lock.
    """
    work_alone(stack_file, command, sandbox=sandbox)
    try:
        yield
    finally:
        release_lock(_lock_file(stack_file, sandbox=sandbox))


def refuse_occupied(stack_file: StackFile, *, sandbox: bool) -> None:
    """Raise an error if another command holds the lock of the stack.

    Raises:
        StackLockedError: another command holds it.
    """
    refuse_taken(_lock_file(stack_file, sandbox=sandbox), stack=stack_file.stack)


def _lock_file(stack_file: StackFile, *, sandbox: bool) -> Path:
    if sandbox:
        return project_of(sandbox_directory()).lock_file(stack_file.stack)
    return stack_file.own_files / "locks" / f"{stack_file.stack}.lock"


def _tell_foreign_ids(stack_file: StackFile) -> None:
    """Report ids of the user's own account, which do not exist in the sandbox's."""
    own = overruled(stack_file.cluster, sandbox_completion(stack_file), known=account_ids())
    if own:
        console.progress(
            f"{stack_file.name} sets {', '.join(own)}, but the sandbox's account has other ids. "
            "Remove these keys in a copy, and use it with --stack-file: the sandbox then fills "
            "them in"
        )


def _sandbox(stack_file: StackFile) -> Workspace:
    needs_parallelcluster = stack_file.architecture == PARALLELCLUSTER
    sandbox = started_sandbox(
        console.progress,
        with_parallelcluster=needs_parallelcluster,
        controllers=stack_file.controllers if stack_file.architecture == EKS else (),
    )
    return sandbox.workspace(stack_file, console.progress)


def _account(stack_file: StackFile) -> Workspace:
    require_credentials()
    if stack_file.architecture == EKS:
        require_aws_cli()
    backend = backend_variables(stack_file)
    engine = ensure_pulumi(console.progress)
    directory = stack_file.project_directory
    follow_checkout(directory, console.progress)
    environment = marked(
        {**account_environment(os.environ, engine=engine.directory), **backend},
        directory=directory,
        stack=stack_file.stack,
    )
    command = PulumiCommand(engine.executable, directory, environment)
    _install_environment(command)
    return AccountWorkspace(
        stack_file=stack_file,
        command=command,
        config_file=None if stack_file.is_project_file else stack_file.path,
    )


def _install_environment(command: PulumiCommand) -> None:
    """Make the Python environment of a project of the installed package, if it has none.

    Raises:
        EngineFailedError: it cannot be made; the message has what Pulumi said.
    """
    directory = command.directory
    is_own = INSTALLATION.clone is None and (directory / "requirements.txt").is_file()
    if not is_own or (directory / ".venv").exists():
        return
    console.progress(f"`pulumi install` makes the Python environment of {directory} (a minute)")
    command.output(["install", "--no-plugins"])
