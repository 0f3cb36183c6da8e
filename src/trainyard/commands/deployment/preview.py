"""`preview`: show what `up` would change, with the policy pack attached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trainyard.checks.check_result import refuse_two_forms
from trainyard.cli import console, failures, options
from trainyard.cost.stack_cost import cost_line
from trainyard.deployment.engine_commands import Show, changed_guarded, opened
from trainyard.deployment.operation_end import finish

if TYPE_CHECKING:
    from trainyard.changes.steps import PlannedStep


def preview(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
    as_json: options.AsJson = False,
    as_sarif: options.AsSarif = False,
    html_file: options.PreviewReport = None,
    verbose: options.Verbose = False,
) -> None:
    """Show what `up` would change, checked by the policy pack. Changes nothing."""
    if as_json or as_sarif:
        from trainyard.deployment.preview_findings import answer_preview

        refuse_two_forms(as_json=as_json, as_sarif=as_sarif)
        if html_file is not None:
            raise failures.WrongUseError("--html adds to the text of `preview`; omit the document")
        answer_preview(stack, path=stack_file, sandbox=sandbox, as_sarif=as_sarif)
        return
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    workspace = opened(target, "", checks_config=True)
    show = Show(yes=False, verbose=verbose)
    steps: list[Sequence[PlannedStep]] = []
    result = changed_guarded(workspace, "preview", show=show, replace=(), saw=steps.append)
    finish(result, workspace, "preview")
    console.answer(f"cost: {cost_line(target)}")
    if html_file is not None:
        from trainyard.deployment.stack_report import write_preview_report

        write_preview_report(html_file, target, steps[-1])
