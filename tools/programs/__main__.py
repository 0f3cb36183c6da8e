"""Fills the cache of programs: ``python -m tools.programs``.

For image builds and continuous integration, to do this work before the first command.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from trainyard.engine.pulumi_engine import PulumiEngine, ensure_pulumi
from trainyard.sandbox.engine import EngineError, Plugin, ensure_kubernetes, ensure_plugins
from trainyard.sandbox.engine.progress import Progress


@dataclass(frozen=True, slots=True)
class Programs:
    """What the cache has."""

    engine: PulumiEngine
    plugins: Sequence[Plugin]
    kubernetes: Mapping[str, Sequence[str]]
    """Command prefix of each program, by its name."""


def ensure_programs(report: Progress) -> Programs:
    """Return all programs; get missing ones.

    Raises:
        EngineError: a program can neither be downloaded nor built.
    """
    engine = ensure_pulumi(report)
    return Programs(engine, ensure_plugins(report, engine.executable), ensure_kubernetes(report))


def _report(message: str) -> None:
    sys.stderr.write(f"{message}\n")
    sys.stderr.flush()


def main(ensure: Callable[[Progress], Programs] = ensure_programs) -> int:
    """Get all programs and print their locations. Return the exit code."""
    try:
        programs = ensure(_report)
    except EngineError as error:
        _report(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        _report("interrupted; what is finished is kept, and the next run goes on from there")
        return 130
    engine = programs.engine
    _report(f"Pulumi {engine.version} ({engine.origin}): {engine.directory}")
    for plugin in programs.plugins:
        _report(f"{plugin.description}: {plugin.directory}")
    for name, command in sorted(programs.kubernetes.items()):
        _report(f"{name}: {' '.join(command)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
