"""Fills the cache: ``python -m tools.engine`` gets engine, plugins and Kubernetes programs.

For image builds and continuous integration, to do this work before the first command.
"""

import sys

from tools.engine import EngineError, ensure_kubernetes, ensure_plugins, ensure_pulumi


def _report(message: str) -> None:
    sys.stderr.write(f"{message}\n")
    sys.stderr.flush()


def main() -> int:
    """Get all programs and print their locations. Return the exit code."""
    try:
        engine = ensure_pulumi(_report)
        plugins = ensure_plugins(_report, engine)
        programs = ensure_kubernetes(_report)
    except EngineError as error:
        _report(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        _report("interrupted; what is finished is kept, and the next run goes on from there")
        return 130
    _report(f"Pulumi {engine.version} ({engine.origin}): {engine.directory}")
    for plugin in plugins:
        _report(f"{plugin.description}: {plugin.directory}")
    for name, command in sorted(programs.items()):
        _report(f"{name}: {' '.join(command)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
