"""From the name of a stack to a workspace in which the engine can run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import typer

from trainyard.cli import console, failures
from trainyard.cli.command_line import at_the_end
from trainyard.components.account.answers import AccountUnreachableError
from trainyard.components.config.problems import ConfigError
from trainyard.components.config.provider_settings import ProviderSettings
from trainyard.engine.engine_process import PulumiCommand
from trainyard.engine.environment import (
    account_environment,
)
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.sandboxes.client import account_ids
from trainyard.sandboxes.session import started_sandbox
from trainyard.stack_files.completion import overruled, sandbox_completion
from trainyard.stack_files.installation import INSTALLATION
from trainyard.stack_files.moved_checkout import follow_checkout
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.aws_cli import require_aws_cli
from trainyard.workspace.backend import StackMissingError, backend_variables, init_arguments
from trainyard.workspace.locks import hold_lock, refuse_taken, release_lock
from trainyard.workspace.recovery.leftovers import marked
from trainyard.workspace.target import Target
from trainyard.workspace.workspace import AccountWorkspace, Workspace


def require_credentials() -> None:
    """Raise an error if there are no AWS credentials.

    Raises:
        WrongUseError: the environment, the files and the instance have no credentials.
    """
    from botocore.exceptions import BotoCoreError

    from trainyard.components.account.session import has_credentials

    try:
        found = has_credentials()
    except BotoCoreError as error:
        raise failures.WrongUseError(
            f"the AWS credentials cannot be used: {error}; correct them, or add --sandbox to run "
            "without an account"
        ) from error
    if not found:
        raise failures.WrongUseError(
            "no AWS credentials found; nothing was done\n"
            "  searched: AWS_ACCESS_KEY_ID, AWS_PROFILE, the files ~/.aws/credentials and "
            "~/.aws/config,\n             container and instance credentials\n"
            "  to log in: `aws configure sso`, then `aws sso login`, or set AWS_PROFILE\n"
            "  to run without an account: add --sandbox"
        )


def require_account(settings: ProviderSettings) -> None:
    """Raise an error if this process cannot use the account as the engine does.

    Raises:
        ConfigError: the settings of the stack file cannot be used.
        WrongUseError: there are no credentials, a role cannot be assumed, or the account is not
            allowed.
    """
    if settings.problems:
        raise ConfigError(settings.problems, stack_file=settings.stack_file)
    require_credentials()
    if not settings.is_guarded:
        return
    from trainyard.components.account.session import AccountSession

    try:
        AccountSession(settings).prove()
    except AccountUnreachableError as error:
        raise failures.WrongUseError(str(error)) from error


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a command requires of its workspace."""

    checks_config: bool
    """Whether the program will run, so that its configuration must be valid."""
    command: str = ""
    """The command that may change the state, such as `up`. It locks the stack and cleans up engine
    locks and leftover processes. Empty for a read-only command, which may run in parallel."""


def open_workspace(target: Target, purpose: Purpose) -> Workspace:
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

        plan_of(target.stack_file)
    if purpose.command:
        work_alone(target, purpose.command)
    workspace = target.account.workspace(target)
    if purpose.checks_config:
        if target.is_sandbox:
            _tell_foreign_ids(target.stack_file)
        from trainyard.checks.account_check import refuse_wrong_account

        with target.access():
            refuse_wrong_account(target)
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
        _offer_stack(workspace)
        workspace.prepare(changes=changes, report=console.progress)


def _offer_stack(workspace: Workspace) -> None:
    """Create the stack in the backend if the user agrees.

    Raises:
        CancelledError: the user does not agree.
    """
    stack = workspace.stack_file.stack
    if not typer.confirm(
        f"Your Pulumi backend has no stack {stack}. Create it?", default=True, err=True
    ):
        raise failures.CancelledError(f"{stack} was not created; nothing was changed")
    workspace.command.output([*init_arguments(workspace.stack_file), "--no-select"])
    console.progress(f"created stack {stack} in your Pulumi backend")


def work_alone(target: Target, command: str) -> None:
    """Lock the stack until this command ends.

    Raises:
        StackLockedError: another command holds the lock.
    """
    path = target.lock_file
    try:
        hold_lock(path, stack=target.stack, command=command)
    except OSError:
        # The directory is read-only; only the lock of the engine's backend remains.
        if target.is_sandbox:
            raise
        return
    at_the_end(lambda: release_lock(path))


@contextmanager
def working_alone(target: Target, command: str) -> Iterator[None]:
    """Lock the stack while the block runs.

    Raises:
        StackLockedError: another command holds the lock.
    """
    work_alone(target, command)
    try:
        yield
    finally:
        release_lock(target.lock_file)


def refuse_occupied(target: Target) -> None:
    """Raise an error if another command holds the lock of the stack.

    Raises:
        StackLockedError: another command holds it.
    """
    refuse_taken(target.lock_file, stack=target.stack)


def _tell_foreign_ids(stack_file: StackFile) -> None:
    """Report ids of the user's own account, which do not exist in the sandbox's."""
    own = overruled(stack_file.cluster, sandbox_completion(stack_file), known=account_ids())
    if own:
        console.progress(
            f"{stack_file.name} sets {', '.join(own)}, but the sandbox's account has other ids. "
            "Remove these keys in a copy, and use it with --stack-file: the sandbox then fills "
            "them in"
        )


def sandbox_workspace(target: Target) -> Workspace:
    """Return a workspace in the project of the sandbox; start it with what the stack needs."""
    stack_file = target.stack_file
    sandbox = started_sandbox(
        console.progress,
        with_parallelcluster=stack_file.facts.made_by_parallelcluster,
        controllers=stack_file.controllers,
    )
    return sandbox.workspace(target, console.progress)


def account_workspace(target: Target) -> Workspace:
    """Return a workspace in the user's backend; install the engine if necessary.

    Raises:
        NotLoggedInError: no login to a Pulumi backend.
        WrongUseError: no credentials, no passphrase, or no AWS CLI for an EKS stack.
    """
    stack_file = target.stack_file
    with target.access():
        pass  # the engine reaches the account by itself, if it can be reached
    if stack_file.facts.needs_aws_cli:
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
        target=target,
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
