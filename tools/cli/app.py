"""The command line as a whole: its commands, and how their errors become messages."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from tools.cli import (
    artifacts,
    bench,
    checks,
    console,
    deployments,
    explain,
    failures,
    jobs,
    plans,
    sandboxes,
    suite,
)


class _Commands(TyperGroup):
    """Turns errors that are meant for people into one message and the exit code they carry."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt:
            console.problem("interrupted; run the same command again to go on")
            raise typer.Exit(failures.WORK_FAILED) from None
        except Exception as error:
            exit_code = failures.exit_code_of(error)
            if exit_code is None:
                raise
            console.problem(str(error))
            raise typer.Exit(exit_code) from error


app = typer.Typer(
    cls=_Commands,
    name="trainyard",
    help="Clusters for distributed training on AWS, from one stack file.",
    epilog="Exit codes: 0 done, 1 the work failed, 2 wrong use or wrong configuration.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command("up")(deployments.up)
app.command("preview")(deployments.preview)
app.command("destroy")(deployments.destroy)
app.command("refresh")(deployments.refresh)
app.command("outputs")(artifacts.outputs)
app.command("check")(checks.check)
app.command("explain")(explain.explain)
app.command("plan")(plans.plan)
app.command("artifact")(artifacts.artifact)
app.command("job")(jobs.job)
app.add_typer(sandboxes.app, name="sandbox")
app.command("bench")(bench.bench)
app.command("test", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    suite.test
)
