"""`list`: the stacks, and which of them are deployed."""

from __future__ import annotations

from tools.cli import console, options
from tools.cli.stack_table import listing


def list(  # noqa: A001 - the name of the command
    sandbox: options.Sandbox = False, as_json: options.AsJson = False
) -> None:
    """List the stacks of your stacks directory and the examples, and which are deployed."""
    found = listing(sandbox=sandbox)
    if as_json:
        console.answer_json(found.as_json())
        return
    found.show()
