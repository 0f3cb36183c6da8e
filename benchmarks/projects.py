"""Pulumi projects of the sandbox to preview: the same engine and account, another program each."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measuring import Spent, run_process
from sandbox.account.stacks import completion
from tools.cli.sandbox_session import PROVIDERS, RunningSandbox, running_sandbox
from tools.engine import ensure_pulumi
from tools.workspace.project import SandboxProject
from tools.workspace.stack_files import ROOT, completed, find_stack_file

STACK = "p5-cb"
FLAT = Path(__file__).parent / "flat_program.py"
ONE_RULE = '''"""A pack of one rule, which imports the module of that rule only."""

import sys

sys.path.insert(0, {root!r})

from policies.configured import served
from policies.rules.security.ebs_encrypted import POLICY
from policies.servicer import PackServicer, serve

serve(PackServicer("one-rule", served([POLICY])))
'''


@dataclass(frozen=True, slots=True)
class Project:
    """One program in a Pulumi project of its own, with an empty state."""

    directory: Path
    environment: Mapping[str, str]
    engine: Path

    def preview(self, *arguments: str) -> Spent:
        """Run a preview and return what it took, with every process that the engine started."""
        return self._run("preview", "--stack", STACK, "--non-interactive", *arguments)

    def begin(self) -> None:
        """Make the stack."""
        self._run("stack", "init", STACK, "--no-select")

    def _run(self, *arguments: str) -> Spent:
        return run_process(
            [self.engine, *arguments], directory=self.directory, environment=self.environment
        )


def project(scratch: Path, name: str, main: Path) -> Project:
    """Return a project that runs the program in `main` with the configuration of the stack."""
    sandbox: RunningSandbox = running_sandbox()
    made = SandboxProject(scratch / f"{name}-project", PROVIDERS)
    made.write(completed(find_stack_file(STACK), completion(STACK)))
    description = made.directory / "Pulumi.yaml"
    text = description.read_text(encoding="utf-8")
    description.write_text(text.replace(f"main: {ROOT}\n", f"main: {main}\n"), encoding="utf-8")
    engine = ensure_pulumi(lambda _: None)
    environment = sandbox.environment(engine.directory, made)
    result = Project(made.directory, environment, engine.executable)
    result.begin()
    return result


def flat_program(scratch: Path) -> Path:
    """Return the directory of a flat program that registers what the stack registers."""
    directory = scratch / "flat"
    directory.mkdir()
    shutil.copy(FLAT, directory / "__main__.py")
    (directory / "plan.json").write_text(json.dumps(_plan()), encoding="utf-8")
    return directory


def empty_program(scratch: Path) -> Path:
    """Return the directory of a program that registers nothing."""
    directory = scratch / "empty"
    directory.mkdir()
    (directory / "__main__.py").write_text("import pulumi\n", encoding="utf-8")
    return directory


def pack_of_one_rule(scratch: Path) -> Path:
    """Return the directory of a policy pack with one of the rules."""
    directory = scratch / "one-rule"
    directory.mkdir()
    (directory / "__main__.py").write_text(ONE_RULE.format(root=str(ROOT)), encoding="utf-8")
    description = (ROOT / "policies" / "PulumiPolicy.yaml").read_text(encoding="utf-8")
    environment = f"virtualenv: {Path(sys.prefix)}"
    (directory / "PulumiPolicy.yaml").write_text(
        description.replace("virtualenv: ../.venv", environment), encoding="utf-8"
    )
    return directory


def _plan() -> dict[str, Any]:
    command: Sequence[str | Path] = [ROOT / "trainyard", "plan", STACK, "--sandbox", "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    plan = json.loads(done.stdout)
    (cluster,) = [r for r in plan["resources"] if r["type"] == "aws:eks/cluster:Cluster"]
    plan["subnet_ids"] = cluster["inputs"]["vpcConfig"]["subnetIds"]
    return plan
