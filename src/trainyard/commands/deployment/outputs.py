"""`outputs`: print what a stack exports."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from trainyard.cli import console, options
from trainyard.schedulers.deployed_stack import deployed_stack


def outputs(
    context: typer.Context,
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    show_secrets: Annotated[
        bool, typer.Option("--show-secrets", help="Show secret outputs in plain text.")
    ] = False,
    stack_file: options.StackFilePath = None,
    as_json: options.AsJson = False,
) -> None:
    """Print the outputs of a deployed stack."""
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    deployed = deployed_stack(context, target)
    values = deployed.outputs(show_secrets=show_secrets)
    if as_json:
        console.answer_json(values)
        return
    for name, value in values.items():
        console.answer(f"{name}: {_line(value)}")


def _line(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
