"""`network`: prints the kind of network of a stack."""

from __future__ import annotations

from trainyard.cli import console, options
from trainyard.stack_files.stack_config import config_of


def network(stack: options.Stack, stack_file: options.StackFilePath = None) -> None:
    """Print the kind of network of a stack."""
    target = options.target(stack, path=stack_file, sandbox=False)
    console.answer(config_of(target.stack_file).network.kind)
