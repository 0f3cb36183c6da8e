"""A deployed stack as the commands for jobs use it: its scheduler, its nodes and its account.

A command makes it with the object of the command line, if its caller gave one:
https://click.palletsprojects.com/en/stable/complex/#contexts
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import typer

from trainyard.schedulers.registry import scheduler_of
from trainyard.schedulers.scheduler import Scheduler
from trainyard.workspace.target import Target

NO_JOBS = "runs no jobs"
"""What commands for jobs say of a network."""


@dataclass(frozen=True, slots=True)
class DeployedStack:
    """A stack of the user's account or of the sandbox.

    Its methods import the clients that they use, so that a command that needs none starts quickly.
    """

    target: Target

    def outputs(self, *, show_secrets: bool) -> dict[str, Any]:
        """Return the outputs of the stack."""
        from trainyard.deployment.stack_outputs import outputs_of

        return outputs_of(self.target, show_secrets=show_secrets)

    def scheduler(self, *, network: str = "has no nodes") -> Scheduler[Any]:
        """Return the scheduler of the stack.

        Args:
            network: What to say of a network, which has none.

        Raises:
            WrongUseError: it is a network.
        """
        return scheduler_of(self.target, network=network)


def deployed_stack(context: typer.Context, target: Target) -> DeployedStack:
    """Return the stack that a command works with."""
    return (context.obj or DeployedStack)(target)
