"""Shells on nodes: the programs that open them, which replace this process."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from typing import NoReturn

from trainyard.cli import console, failures, options
from trainyard.components.account.session import AccountSession
from trainyard.engine.environment import process_environment, profile_environment
from trainyard.workspace.target import Target

_INSTALL = {
    "aws": "https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html",
    "session-manager-plugin": (
        "https://docs.aws.amazon.com/systems-manager/latest/userguide/"
        "session-manager-working-with-install-plugin.html"
    ),
    "ssh": "https://www.openssh.com/portable.html",
}


def stack_with_nodes(stack: str, path: options.StackFilePath, *, sandbox: bool) -> Target:
    """Return a stack whose nodes are machines.

    Raises:
        WrongUseError: it is in the sandbox.
    """
    if sandbox:
        raise failures.WrongUseError(
            "the sandbox runs no machines, so there is no node to log in to. Its Kubernetes API "
            f"servers are real: `./trainyard kubeconfig {stack} --sandbox`"
        )
    return options.target(stack, path=path, sandbox=False)


def become(command: Sequence[str], target: Target) -> NoReturn:
    """Print a command and replace this process with it."""
    needed = [command[0], *(["session-manager-plugin"] if command[0] == "aws" else [])]
    for program in needed:
        if shutil.which(program) is None:
            raise failures.WrongUseError(
                f"`{shlex.join(command)}` needs {program}, which is not on the PATH; install it: "
                f"{_INSTALL[program]}"
            )
    console.progress(shlex.join(command))
    settings = target.account.settings
    environment = profile_environment(os.environ, settings.profile)
    if command[0] == "aws":
        # It outlives this process, so it gets the credentials that are used now.
        with process_environment(environment):
            session = AccountSession(settings, region=target.region)
            environment = session.environment(environment)
    os.execvpe(command[0], [*command], environment)  # noqa: S606 - no shell
