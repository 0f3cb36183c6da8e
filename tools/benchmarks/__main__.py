"""Run tools/benchmarks: ``python -m tools/benchmarks``, of all or of those that are named.

Times are multiples of a reference in the same run. `preview`, `parallelcluster` and `cold-up` need
a running sandbox (``./trainyard sandbox start``). The exit code is 1 if a budget is exceeded.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.benchmarks import report
from tools.benchmarks.report import Benchmarks
from tools.repository import OWN_FILES
from trainyard.cli.failures import CommandError


def main(arguments: Sequence[str], benchmarks: Benchmarks = report.ALL) -> int:
    """Run the tools/benchmarks. Return the exit code."""
    options = _options(arguments, benchmarks.names)
    try:
        results = benchmarks.measure(options.names or benchmarks.names, options.rounds, _say)
    except CommandError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    report.write(options.output, results)
    if options.json:
        sys.stdout.write(json.dumps(report.as_json(results), indent=2) + "\n")
    else:
        report.show(results)
    _say(f"written: {options.output / 'bench.json'}")
    if results.missed:
        sys.stderr.write(f"error: over the budget: {', '.join(results.missed)}\n")
    return 1 if results.missed else 0


def _options(arguments: Sequence[str], names: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools/benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = ", ".join(names)
    parser.add_argument("names", nargs="*", metavar="NAME", help=known)
    parser.add_argument(
        "--rounds", type=int, default=5, help="number of rounds after the first one (default: 5)"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=OWN_FILES / "bench",
        help="directory for bench.json and the charts",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    options = parser.parse_args(arguments)
    unknown = ", ".join(name for name in options.names if name not in names)
    if unknown:
        parser.error(f"there is no benchmark {unknown}; available: {known}")
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    return options


def _say(message: str) -> None:
    sys.stderr.write(f"• {message}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
