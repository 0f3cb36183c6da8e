"""How much the program costs in a preview, against a flat program and an empty one.

    .venv/bin/python -m benchmarks.preview [rounds]

Needs a running sandbox (`./trainyard sandbox start`). The three previews alternate within one run,
without the policy pack; a fourth column is the program with the pack. Budget: at most 1.10 times
the flat program, and at most one second for the pack.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from sandbox.account.stacks import completion
from tools.cli.sandbox_session import PROVIDERS, RunningSandbox, sandbox_directory
from tools.engine import ensure_pulumi
from tools.workspace.project import SandboxProject
from tools.workspace.stack_files import ROOT, completed, find_stack_file

STACK = "p5-cb"
DEFAULT_ROUNDS = 5
FLAT = Path(__file__).parent / "flat_program.py"


@dataclass(frozen=True, slots=True)
class Contender:
    """One program in a Pulumi project of its own."""

    name: str
    project: SandboxProject
    environment: dict[str, str]
    engine: Path
    arguments: tuple[str, ...] = ()

    def preview(self) -> float:
        """Run one preview and return its wall time in seconds."""
        started = time.perf_counter()
        self.run("preview", "--stack", STACK, "--non-interactive", *self.arguments)
        return time.perf_counter() - started

    def run(self, *arguments: str) -> None:
        """Run the engine.

        Raises:
            SystemExit: it failed; what it said is in the message.
        """
        done = subprocess.run(
            [str(self.engine), *arguments],
            cwd=self.project.directory,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            sys.exit(f"{self.name}: {done.stdout}{done.stderr}")


def main() -> None:
    """Measure and print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_ROUNDS
    directory = sandbox_directory()
    status = directory.read_status()
    if status is None or not status.process.is_alive:
        sys.exit("no sandbox runs; start one with ./trainyard sandbox start")
    with tempfile.TemporaryDirectory() as scratch:
        contenders = _contenders(Path(scratch), RunningSandbox(directory, status))
        for contender in contenders:
            contender.run("stack", "init", STACK)
        _print(contenders, _measure(contenders, rounds))


def _measure(contenders: list[Contender], rounds: int) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for contender in contenders:
        contender.preview()  # the first one compiles bytecode
    for _ in range(rounds):
        for contender in contenders:
            seconds[contender.name].append(contender.preview())
    return seconds


def _contenders(scratch: Path, sandbox: RunningSandbox) -> list[Contender]:
    plan = _plan()
    flat, empty = scratch / "flat", scratch / "empty"
    for directory in (flat, empty):
        directory.mkdir()
    shutil.copy(FLAT, flat / "__main__.py")
    (flat / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    (empty / "__main__.py").write_text("import pulumi\n", encoding="utf-8")
    program = _contender("program", scratch, sandbox, ROOT)
    pack = replace(
        program, name="program with pack", arguments=("--policy-pack", str(ROOT / "policies"))
    )
    pack = replace(pack, project=_project(scratch / "pack-project", ROOT))
    pack = replace(pack, environment=sandbox.environment(program.engine.parent, pack.project))
    return [
        program,
        _contender("flat", scratch, sandbox, flat),
        _contender("empty", scratch, sandbox, empty),
        pack,
    ]


def _contender(name: str, scratch: Path, sandbox: RunningSandbox, main: Path) -> Contender:
    project = _project(scratch / f"{name}-project", main)
    engine = ensure_pulumi(lambda _: None)
    environment = sandbox.environment(engine.directory, project)
    return Contender(name, project, environment, engine.executable)


def _project(directory: Path, main: Path) -> SandboxProject:
    project = SandboxProject(directory, PROVIDERS)
    project.write(completed(find_stack_file(STACK), completion(STACK)))
    description = directory / "Pulumi.yaml"
    text = description.read_text(encoding="utf-8")
    description.write_text(text.replace(f"main: {ROOT}\n", f"main: {main}\n"), encoding="utf-8")
    return project


def _plan() -> dict[str, object]:
    done = subprocess.run(
        [str(ROOT / "trainyard"), "plan", STACK, "--sandbox", "--json"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    plan = json.loads(done.stdout)
    (cluster,) = [r for r in plan["resources"] if r["type"] == "aws:eks/cluster:Cluster"]
    plan["subnet_ids"] = cluster["inputs"]["vpcConfig"]["subnetIds"]
    return plan


def _print(contenders: list[Contender], seconds: dict[str, list[float]]) -> None:
    flat = statistics.median(seconds["flat"])
    table = Table("preview", "minimum", "median", "maximum", "against flat")
    for contender in contenders:
        values = seconds[contender.name]
        table.add_row(
            contender.name,
            *(f"{f(values):.2f} s" for f in (min, statistics.median, max)),
            f"{statistics.median(values) / flat:.2f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
