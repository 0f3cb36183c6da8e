"""The command line: its commands, and how their errors become messages."""

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
"""The module of `tools.cli` of each command, in the order of `--help`."""
_PASSES_ARGUMENTS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
_AT_THE_END = ExitStack()


def at_the_end(call: Callable[[], object]) -> None:
    """Let something be called when the command has ended, however it ends."""
    _AT_THE_END.callback(call)


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
            console.problem(failures.message_of(error))
            raise typer.Exit(exit_code) from error
        finally:
            _AT_THE_END.close()


def command_line(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the command line with the command that the arguments ask for, else with all.

    Every command brings its imports, and typer reads every option: all of them together are a
    seventh of what `check` costs.
    """
    asked = [name for name in arguments[:1] if name in COMMANDS]
    app = typer.Typer(
        cls=_Commands,
        name="trainyard",
        help="Clusters for distributed training on AWS, from one stack file.",
        epilog="Exit codes: 0 done, 1 the work failed, 2 wrong use or wrong configuration.",
        no_args_is_help=True,
        invoke_without_command=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    # typer takes a single command for the whole, without its name, unless there is a callback.
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
