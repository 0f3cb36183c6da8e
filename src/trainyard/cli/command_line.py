"""The command line: its commands, and the messages for their errors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from typer._completion_classes import completion_init
from typer.core import TyperGroup
from typer.main import get_command

from trainyard.cli import console, failures
from trainyard.components.typed_command import LAUNCHER, as_typed, typed_command
from trainyard.stack_files.installation import PROJECT, program_version
from trainyard.stack_files.stacks_directory import choose

PROGRAM = typed_command()
COMPLETION = "_TRAINYARD_COMPLETE"
"""Environment variable with which a completion script asks for completions."""


class Command(NamedTuple):
    """A row of `--help`."""

    module: str
    """The module in `package`, which is imported when the command is run."""
    summary: str
    settings: Mapping[str, Any] = {}
    """Further settings of the command, such as that it passes its arguments to another program:
    https://click.palletsprojects.com/en/stable/api/#context"""
    is_group: bool = False
    """Whether it has subcommands of its own."""
    package: str = "trainyard.commands"

    @property
    def full_name(self) -> str:
        """The full name of the module."""
        return f"{self.package}.{self.module}"


PASSES_ARGUMENTS_ON: Mapping[str, Any] = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
}
"""Settings of a command that passes its arguments to another program."""


COMMANDS: Mapping[str, Command] = {
    "init": Command("stack_file.init", "Create a stack file of your own."),
    "import": Command("stack_file.import_", "Write a stack file from a file of another tool."),
    "up": Command(
        "deployment.up",
        "Deploy the stack file; always shows a preview first.",
    ),
    "preview": Command("deployment.preview", "Show what `up` would change. Changes nothing."),
    "destroy": Command("deployment.destroy", "Delete the resources of the stack."),
    "refresh": Command("deployment.refresh", "Update the state from the account."),
    "list": Command("deployment.list_", "List the stacks, and which of them are deployed."),
    "status": Command("deployment.status", "Show what a deployed stack has. Changes nothing."),
    "timeline": Command(
        "deployment.timeline",
        "Show when Capacity Blocks start and end, and what happens.",
    ),
    "cost": Command("stack_file.cost", "Show what a stack costs at list prices, by resource."),
    "diagnose": Command(
        "deployment.diagnose",
        "Write state, events, logs and likely causes to a directory.",
    ),
    "outputs": Command("deployment.outputs", "Print the outputs of a deployed stack."),
    "check": Command("stack_file.check", "Check stack files, and the AWS account with --live."),
    "lint": Command("stack_file.lint", "Check files of other tools, without an account."),
    "explain": Command("stack_file.explain", "Explain a rule, or list all rules."),
    "plan": Command(
        "stack_file.plan",
        "Show every resource of a new deployment of the stack.",
    ),
    "picture": Command(
        "stack_file.picture",
        "Draw what comes up with a stack, as SVG or in a report.",
    ),
    "pulumi": Command(
        "pulumi",
        "Run the Pulumi CLI of this program.",
        # Everything after the first word is an argument of Pulumi, also --help.
        {**PASSES_ARGUMENTS_ON, "allow_interspersed_args": False},
    ),
    "artifact": Command("deployment.artifact", "Print a document that the stack exports."),
    "kubeconfig": Command("cluster.kubeconfig", "Add the cluster to a kubeconfig."),
    "ssh": Command("cluster.ssh", "Open a shell on the head node of a Slurm cluster."),
    "ssm": Command("cluster.ssm", "Open a shell on a node with Session Manager."),
    "logs": Command("jobs.logs", "Print the log of a job, or the logs of the stack."),
    "job": Command("jobs.job", "Generate a job for the stack."),
    "run": Command("jobs.run", "Run a program on the accelerators of a stack."),
    "jobs": Command("jobs.jobs", "List the jobs of a stack."),
    "cancel": Command("jobs.cancel", "End one job of a stack."),
    "verify": Command("cluster.verify", "Test the network and the accelerators of a stack."),
    "repair": Command("cluster.repair", "Replace bad nodes inside their reservation."),
    "accept": Command(
        "deployment.accept",
        "Deploy, test, change and delete a stack, and write a report.",
    ),
    "capacity": Command(
        "capacity.capacity",
        "Find, buy, extend, list and release reserved capacity.",
        is_group=True,
    ),
    "sandbox": Command("sandbox", "The emulated AWS account on this machine.", is_group=True),
    "completion": Command("completion", "Print a completion script for bash, zsh or fish."),
}
"""The commands of an installed package, in the order of `--help`."""
_PLAIN: Any = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
}
_HELP = {"help_option_names": ["-h", "--help"]}
_AT_THE_END = ExitStack()


def at_the_end(call: Callable[[], object]) -> None:
    """Register a function to call when the command ends, however it ends."""
    _AT_THE_END.callback(call)


class _Commands(TyperGroup):
    """Imports only the command that is run, and turns errors into a message and an exit code."""

    rows: Mapping[str, Command] = COMMANDS

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed and command(str(name), self.rows), rest

    def invoke(self, ctx: Any) -> Any:
        try:
            with _named_launcher():
                return super().invoke(ctx)
        except typer.Exit:
            raise
        except typer.Abort:
            # The user did not answer a question that comes before any change.
            console.cancelled("nothing was changed")
            raise typer.Exit(failures.CANCELLED) from None
        except KeyboardInterrupt:
            console.cancelled("run the same command again to continue")
            raise typer.Exit(failures.CANCELLED) from None
        except failures.CancelledError as error:
            console.cancelled(str(error))
            raise typer.Exit(error.exit_code) from error
        except failures.CommandError as error:
            console.problem(str(error))
            raise typer.Exit(error.exit_code) from error
        except Exception as error:
            from trainyard.cli.user_errors import exit_code_of, message_of

            exit_code = exit_code_of(error)
            if exit_code is None:
                raise
            console.problem(message_of(error))
            raise typer.Exit(exit_code) from error
        finally:
            _AT_THE_END.close()


@contextmanager
def _named_launcher() -> Iterator[None]:
    """Let messages of this process and of the engine's program name the launcher's commands."""
    before = os.environ.get(LAUNCHER)
    os.environ[LAUNCHER] = PROGRAM
    try:
        yield
    finally:
        os.environ.pop(LAUNCHER, None)
        if before is not None:
            os.environ[LAUNCHER] = before


def command_line(rows: Mapping[str, Command] = COMMANDS) -> typer.Typer:
    """Return the command line. Its commands are only names and summaries until one is run."""
    # typer registers the completions of shells only together with its own options for them.
    completion_init()
    app = typer.Typer(
        cls=type("Commands", (_Commands,), {"rows": rows}),
        name="trainyard",
        help="Clusters for distributed training on AWS, from one stack file.",
        epilog=(
            "Exit codes: 0 success, 1 failure, 2 invalid usage or configuration, 3 cancelled. "
            "`pulumi`, `ssh` and `ssm` exit with the code of the program that they run."
        ),
        context_settings=_HELP,
        no_args_is_help=True,
        invoke_without_command=True,
        **_PLAIN,
    )
    # typer hides the name of a single command unless there is a callback.
    app.callback()(_options)
    for name, row in rows.items():
        app.command(name, short_help=row.summary)(_listed)
    return app


def command(name: str, rows: Mapping[str, Command] = COMMANDS) -> Any:
    """Return a command with its options, from the module that implements it."""
    row = rows[name]
    module: Any = import_module(row.full_name)
    if row.is_group:
        group: Any = get_command(module.app)
        for each in (group, *group.commands.values()):
            each.help = as_typed(each.help or "")
        return group
    alone = typer.Typer(**_PLAIN)
    function = getattr(module, name, None) or getattr(module, f"{name}_")
    text = as_typed(getdoc(function) or "")
    alone.command(name, help=text, context_settings={**_HELP, **row.settings})(function)
    return get_command(alone)


def _listed() -> None:
    """Stand for a command in the list of commands."""


def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True)
    ] = False,
    stacks: Annotated[
        Path | None,
        typer.Option("--stacks", metavar="DIR", help="Directory of your stack files."),
    ] = None,
) -> None:
    if version:
        console.answer(f"{PROJECT} {program_version()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        raise failures.WrongUseError("a command is missing; `./trainyard --help` lists them")
    if stacks is not None:
        choose(stacks)
        at_the_end(lambda: choose(None))
