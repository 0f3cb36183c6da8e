"""A stack that the user's Pulumi backend does not have."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from trainyard.components.config.pulumi_command import pulumi_command

if TYPE_CHECKING:
    from trainyard.stack_files.stack_files import StackFile

STACK_NOT_FOUND = 6
"""Exit code of the engine.
https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/cmd/pulumi/cmd/exit_codes.go"""


class StackMissingError(Exception):
    """The stack does not exist in the user's Pulumi backend; the message says how to create it."""

    def __init__(self, stack_file: StackFile) -> None:
        super().__init__(
            f"the Pulumi backend that you are logged in to has no stack {stack_file.stack}; "
            "nothing was changed. Create it:\n"
            f"  {pulumi_command(shlex.join(init_arguments(stack_file)))}"
        )


def init_arguments(stack_file: StackFile) -> list[str]:
    """Return the arguments of `pulumi` that create the stack.

    `stack init` does not read the provider from the stack file:
    https://www.pulumi.com/docs/iac/cli/commands/pulumi_stack_init/
    """
    provider = stack_file.content.get("secretsprovider")
    key = ["--secrets-provider", str(provider)] if provider else []
    return ["stack", "init", stack_file.stack, *key]
