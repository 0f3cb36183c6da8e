"""`./trainyard` without previews: `python -m tests.support.without_preview up dev --sandbox`.

A preview runs the program and every plugin once more than the update needs. Tests of updates skip
it; the preview and the guard that reads it have separate tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from tests.support.warm_python.command_line import warm_engines
from trainyard.deployment import engine_commands, guarded_update
from trainyard.deployment.guarded_update import Guard
from trainyard.deployment.policy_pack import policy_pack
from trainyard.engine import engine_run
from trainyard.engine.engine_process import EngineResult
from trainyard.engine.engine_run import EngineRun
from trainyard.workspace.workspace import Workspace

_run, _run_guarded = engine_commands.run, guarded_update.run_guarded
"""The originals, which `main` replaces."""


def main(*, checkpoints: bool = False) -> None:
    """Run the command line; its `up`, `refresh` and `destroy` skip the preview.

    Args:
        checkpoints: As for `warm_engines`.
    """
    warm_engines(checkpoints=checkpoints)
    guarded_update.run_guarded = _unguarded
    engine_commands.run = _at_once
    # The display of an update follows the events of its preview first.
    engine_run.display_of = _no_display
    from trainyard.cli.app import app

    app(prog_name="./trainyard")


def _unguarded(of: Workspace, operation: str, run: EngineRun, guard: Guard) -> EngineResult:
    if operation == "preview":
        return _run_guarded(of, operation, run, guard)
    # The guard needs the steps of a preview.
    return _at_once(of, operation, [*policy_pack(of), *run.flags])


def _no_display(_of: Workspace, _operation: str) -> None:
    return None


def _at_once(
    of: Workspace,
    operation: str,
    extra: Sequence[str] = (),
    *,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> EngineResult:
    return _run(of, operation, [*extra, "--skip-preview"], variables=variables)


if __name__ == "__main__":
    main()
