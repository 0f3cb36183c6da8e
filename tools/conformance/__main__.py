"""Record the behavior of a component: `python -m tools.conformance PATH/pulumi-resource-eks`.

Starts the plugin, simulates the engine, and writes `tests/goldens/components/eks.yaml`. With
`--check` nothing is written: it prints what the plugin does differently, to check a new version. No
AWS account is used. The plugin is an official release or your own build.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tools.conformance import eks_cluster
from tools.conformance.plugin import ConstructError, Plugin, running
from tools.conformance.recordings import Case, Values, compact, read, shown_difference, text_of
from trainyard.sandbox.aws.server import HttpsEndpoints
from trainyard.sandbox.kubernetes.aws_program import write_aws_program

ROOT = Path(__file__).resolve().parents[2]
RECORDINGS = ROOT / "tests" / "goldens" / "components" / "eks.yaml"
HEADER = f"""\
What pulumi-eks does for `{eks_cluster.TOKEN}`, recorded with `python -m tools.conformance`.
`base` is a whole call: the resources, the functions that are called and the outputs. `variants` say
what changes, as JSON merge patches; a combination is the sum of its variants.
`tools/conformance/eks_cluster.py` has the arguments and what AWS answers."""


def main(
    arguments: Sequence[str],
    recordings: Path = RECORDINGS,
    cases: Iterable[Case] | None = None,
) -> int:
    """Record or compare. Return 1 if `--check` finds a difference, 2 if a call fails.

    Args:
        arguments: Of the command line.
        recordings: The file.
        cases: The calls; by default all of `eks_cluster`.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.conformance", description=__doc__)
    parser.add_argument("plugin", type=Path, help="the program pulumi-resource-eks")
    parser.add_argument("--check", action="store_true", help="print differences, write nothing")
    parser.add_argument("--source", default="an official release", help="where the plugin is from")
    options = parser.parse_args(arguments)
    try:
        version, calls = record(
            options.plugin.resolve(), eks_cluster.cases() if cases is None else cases
        )
    except ConstructError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    before = read(recordings) if recordings.exists() else {}
    before.pop("recorded", None)
    difference = shown_difference(text_of("", before), text_of("", calls), recordings.name)
    sys.stdout.write(difference)
    if options.check:
        return 1 if difference else 0
    origin = {
        "component": f"pulumi-eks {version}",
        "date": datetime.now(UTC).date().isoformat(),
        "source": options.source,
    }
    recordings.parent.mkdir(exist_ok=True)
    recordings.write_text(text_of(HEADER, {"recorded": origin, **calls}), encoding="utf-8")
    return 0


def record(plugin: Path, cases: Iterable[Case]) -> tuple[str, Values]:
    """Return the version that a plugin reports, and the recordings of its calls.

    Raises:
        ConstructError: it does not start, or rejects a call.
    """
    with tempfile.TemporaryDirectory(prefix="trainyard-conformance-") as name:
        directory = Path(name)
        programs = write_aws_program(
            directory / "bin", clusters=directory / "clusters", region=eks_cluster.REGION
        )
        hosts = HttpsEndpoints([eks_cluster.ISSUER_HOST, eks_cluster.HOST], directory / "tls")
        path = os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)])
        with hosts.serving():
            environment = {"PATH": path, "HOME": name, "TMPDIR": name, **hosts.environment()}
            with running([str(plugin)], environment=environment, log=directory / "log") as started:
                calls = {case: _call(started, case) for case in cases}
                return started.version(), compact(calls)


def _call(plugin: Plugin, case: Case) -> Values:
    return eks_cluster.scrubbed(plugin.construct(eks_cluster.construction(case)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
