"""The command line: its commands, and the messages for their errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tools.cli import console, failures

COMMANDS: Mapping[str, str] = {
    "up": "deployments",
    "preview": "deployments",
    "destroy": "deployments",
    "refresh": "deployments",
    "outputs": "artifacts",
    "check": "checks",
    "explain": "explain",
    "plan": "plans",
    "artifact": "artifacts",
    "job": "jobs",
    "sandbox": "sandboxes",
    "bench": "bench",
    "test": "suite",
}
"""The module in `tools.cli` of each command, in the order of `--help`."""
_PASSES_ARGUMENTS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
_AT_THE_END = ExitStack()


def at_the_end(call: Callable[[], object]) -> None:
    """Register a function to call when the command ends, however it ends."""
    _AT_THE_END.callback(call)


class _Commands(TyperGroup):
    """Turns user-facing errors into a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt:
            console.problem("interrupted; run the same command again to continue")
            raise typer.Exit(failures.WORK_FAILED) from None
        except Exception as error:
            exit_code = failures.exit_code_of(error)
            if exit_code is None:
                raise
            console.problem(failures.message_of(error))
            raise typer.Exit(exit_code) from error
        finally:
            _AT_THE_END.close()


def command_line(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the command line with only the requested command, or with all commands.

    Each command has its own imports, and typer parses every option: loading all commands takes a
    seventh of the time of `check`.
    """
    asked = [name for name in arguments[:1] if name in COMMANDS]
    app = typer.Typer(
        cls=_Commands,
        name="trainyard",
        help="Clusters for distributed training on AWS, from one stack file.",
        epilog="Exit codes: 0 success, 1 failure, 2 invalid usage or configuration.",
        no_args_is_help=True,
        invoke_without_command=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    # typer hides the name of a single command unless there is a callback.
    app.callback()(_options)
    for name in asked or COMMANDS:
        _add(app, name)
    return app


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True)
    ] = False,
) -> None:
    if version:
        import tomllib

        from tools.workspace.stack_files import ROOT

        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        console.answer(f"{project['name']} {project['version']}")
        raise typer.Exit


def _add(app: typer.Typer, name: str) -> None:
    module: Any = import_module(f"tools.cli.{COMMANDS[name]}")
    if name == "sandbox":
        app.add_typer(module.app, name=name)
    elif name == "test":
        app.command(name, context_settings=_PASSES_ARGUMENTS_ON)(module.test)
    else:
        app.command(name)(getattr(module, name))
