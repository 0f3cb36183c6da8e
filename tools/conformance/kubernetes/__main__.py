"""Record the official Kubernetes provider, or compare it with its recordings.

`python -m tools.conformance.kubernetes PATH/pulumi-resource-kubernetes` starts the plugin and the
sandbox's control plane, runs every case and writes `tests/goldens/providers/kubernetes`, which
takes two minutes. It prints the differences from the previous recordings. With `--check` nothing is
written, and the exit code is 1 if there is a difference; use it to check a new version before you
raise the pin. The plugin is an official release or your own build.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import yaml

from tools.conformance.kubernetes.cases import CASES
from tools.conformance.kubernetes.plugin import Plugin, Values, running
from tools.conformance.kubernetes.recording import compared, played
from tools.conformance.recordings import read
from trainyard.sandbox.access import NO_ACCOUNT
from trainyard.sandbox.engine import ensure_kubernetes
from trainyard.sandbox.kubernetes.control_planes import KUBERNETES_VERSION, ControlPlanes
from trainyard.sandbox.processes import Spawner

ROOT = Path(__file__).resolve().parents[3]
RECORDINGS = ROOT / "tests" / "goldens" / "providers" / "kubernetes"
"""The discard port; no case calls AWS."""
HEADER = """\
# What pulumi-kubernetes answers, recorded with `python -m tools.conformance.kubernetes`.
# `tools/conformance/kubernetes/cases.py` has the calls: {case}.
"""


def main(arguments: Sequence[str]) -> int:
    """Record or compare. Return the exit code: 1 if `--check` finds a difference."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.conformance.kubernetes", description=__doc__
    )
    parser.add_argument("plugin", type=Path, help="the program pulumi-resource-kubernetes")
    parser.add_argument("--case", action="append", choices=list(CASES), help="only this one")
    parser.add_argument("--check", action="store_true", help="print differences, write nothing")
    parser.add_argument("--source", default="an official release", help="where the plugin is from")
    options = parser.parse_args(arguments)
    version, found = recorded(options.plugin.resolve(), options.case or list(CASES))
    origin = {
        "provider": f"pulumi-kubernetes {version}",
        "kubernetes": KUBERNETES_VERSION,
        "date": datetime.now(UTC).date().isoformat(),
        "source": options.source,
    }
    differs = False
    for name, exchanges in found.items():
        path = RECORDINGS / f"{name}.yaml"
        before = read(path)["exchanges"] if path.exists() else []
        lines = compared(before, exchanges)
        differs = differs or bool(lines)
        sys.stdout.writelines(f"{name} {line}\n" for line in lines)
        if not options.check and lines:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_text(name, origin, exchanges), encoding="utf-8")
    return 1 if options.check and differs else 0


def _text(case: str, origin: Mapping[str, str], exchanges: list[Values]) -> str:
    content = {"recorded": origin, "exchanges": exchanges}
    return HEADER.format(case=case) + yaml.safe_dump(content, sort_keys=False, width=100)


def recorded(plugin: Path, names: Sequence[str]) -> tuple[str, dict[str, list[Values]]]:
    """Return the version that a plugin reports, and its behavior in each case.

    Raises:
        PluginError: it does not start, or does not respond.
    """
    programs = ensure_kubernetes(lambda line: print(line, file=sys.stderr))  # noqa: T201
    with tempfile.TemporaryDirectory(prefix="trainyard-conformance-") as name:
        directory = Path(name)
        spawner = Spawner(directory / "processes")
        planes = ControlPlanes(directory / "clusters", programs, NO_ACCOUNT, spawner.spawn)

        def start(environment: Mapping[str, str]) -> AbstractContextManager[Plugin]:
            return running([str(plugin)], log=directory / "plugin.log", environment=environment)

        try:
            plane = planes.create("recorded", KUBERNETES_VERSION)
            with start({}) as started:
                version = started.version
            return version, {name: played(name, plane, start) for name in names}
        finally:
            planes.stop_all()
            spawner.stop_all()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
