"""`picture`: the topology of a stack as SVG, or in a report with everything that comes up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trainyard.cli import console, failures, options
from trainyard.commands.stack_file.plan import planned
from trainyard.cost.price_list import current_cost
from trainyard.deployment.stack_report import Contents, seen_in_account, seen_in_file, stack_report
from trainyard.stack_files.files import write_whole
from trainyard.topology.drawing import draw
from trainyard.workspace.target import Target

_FORMS = (".svg", ".html")


def picture(
    stack: options.Stack,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            parser=options.output_file,
            help=(
                "FILE.svg, or FILE.html for a report with all resources. Without it, the SVG is "
                "printed."
            ),
        ),
    ] = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Read zones, subnets and times from the AWS account. A report always does.",
        ),
    ] = False,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Draw what comes up with a stack, and what it uses. Changes nothing."""
    form = _FORMS[0] if output is None else output.suffix.lower()
    if form not in _FORMS:
        raise failures.WrongUseError(
            f"--output {output}: the name must end in .svg or .html, which selects the format"
        )
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    if form == ".html":
        text = _report(target)
    elif live:
        text = draw(seen_in_account(target).topology, title=stack)
    else:
        text = draw(seen_in_file(target.stack_file).topology, title=stack)
    if output is None:
        console.answer_document(text)
        return
    write_whole(output, text)
    console.progress(f"the picture is in {output}")


def _report(target: Target) -> str:
    seen = seen_in_account(target)
    # The engine would report the same problems.
    refused = any(each.level == "error" for each in seen.findings)
    resources = () if refused else planned(target)["resources"]
    return stack_report(
        target.stack,
        seen,
        Contents(
            title=target.stack,
            topology=seen.topology,
            resources=resources,
            cost=current_cost(target),
        ),
    )
