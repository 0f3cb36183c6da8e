"""Pulumi projects to preview in the sandbox: the same engine and account, different programs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.benchmarks.measuring import Spent, run_process
from tools.repository import ROOT
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.sandboxes.session import RunningSandbox, project_of, running_sandbox
from trainyard.stack_files.completion import completed, sandbox_completion
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.project import SandboxProject

STACK = "p5-cb"
FLAT = Path(__file__).parent / "flat_program.py"
ONE_RULE = '''"""A pack of one rule, which imports the module of that rule only."""

import sys

sys.path.insert(0, {root!r})

from trainyard.policies.pack.configured import served
from trainyard.policies.rules.security.ebs_encrypted import POLICY
from trainyard.policies.pack.servicer import PackServicer, serve

serve(PackServicer("one-rule", served([POLICY])))
'''


@dataclass(frozen=True, slots=True)
class Project:
    """One program in a Pulumi project of its own, with an empty state."""

    directory: Path
    environment: Mapping[str, str]
    engine: Path
    stack: str

    def preview(self, *arguments: str) -> Spent:
        """Run a preview and return its cost, including every process that the engine started."""
        return self.run("preview", *arguments)

    def run(
        self,
        operation: str,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        said: list[str] | None = None,
    ) -> Spent:
        """Run an operation on the stack and return its cost.

        `environment` is added to the project's; its output lines are added to `said`.
        """
        return run_process(
            [
                self.engine,
                *operation.split(),
                "--stack",
                self.stack,
                "--non-interactive",
                *arguments,
            ],
            directory=self.directory,
            environment={**self.environment, **(environment or {})},
            said=said,
        )

    def begin(self) -> None:
        """Create the stack."""
        run_process(
            [self.engine, "stack", "init", self.stack, "--no-select"],
            directory=self.directory,
            environment=self.environment,
        )


def project(scratch: Path, name: str, main: Path, *, stack: str = STACK) -> Project:
    """Return a project that runs the program in `main` with the configuration of a stack."""
    sandbox: RunningSandbox = running_sandbox()
    plugins = project_of(sandbox.directory).plugins
    made = SandboxProject(scratch / f"{name}-project", plugins)
    made.write(completed(find_stack_file(stack), sandbox_completion(find_stack_file(stack))))
    description = made.directory / "Pulumi.yaml"
    text = description.read_text(encoding="utf-8")
    description.write_text(text.replace(f"main: {ROOT}\n", f"main: {main}\n"), encoding="utf-8")
    engine = ensure_pulumi(lambda _: None)
    environment = sandbox.environment(engine.directory, made)
    result = Project(made.directory, environment, engine.executable, stack)
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
