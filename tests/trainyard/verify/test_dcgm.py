"""What the diagnostics of GPUs say."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.eks import eks_plan, nodes_of
from tests.trainyard.verify.test_verdict import nodes
from trainyard.jobs.dcgm_diag import diagnose_commands, render_dcgm_diag
from trainyard.jobs.nodes import JobRequest
from trainyard.verify.collective_log import read_log
from trainyard.verify.stages import Stage, judge_dcgm, read_diagnoses

RESULTS = Path(__file__).parent / "dcgm"


def printed(node: str, output: str, directory: Path) -> str:
    """Return what a node prints, if `dcgmi` prints this."""
    (directory / "output").write_text(output, encoding="utf-8")
    bash = shutil.which("bash")
    assert bash is not None
    script = "dcgmi() { cat output; return 226; }\n" + diagnose_commands(node, 2)
    done = subprocess.run(
        [bash, "-euo", "pipefail", "-c", script],
        cwd=directory,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def judged(directory: Path, *outputs: str) -> Stage:
    text = "".join(printed(f"n-{n}", said, directory) for n, said in enumerate(outputs, start=1))
    return judge_dcgm(read_diagnoses(text), nodes("p5.48xlarge", 2))


def result(name: str) -> str:
    return (RESULTS / f"{name}.json").read_text(encoding="utf-8")


GOOD = result("dcgm-4-passes")


def test_nodes_without_faults_pass(tmp_path: Path) -> None:
    stage = judged(tmp_path, GOOD, GOOD)
    assert (stage.result, stage.reason) == ("pass", "3 tests passed on each of 2 nodes")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "dcgm-4-memory-fails",
            "n-2: memory failed on GPU 5 (Found 3 faulty memory elements on GPU 5)",
        ),
        ("dcgm-4-runtime-error", "n-2: Error: Unable to complete diagnostic for entities *,cpu:*"),
        ("dcgm-3-deployment-fails", "n-2: Persistence Mode failed"),
        ("dcgm-3-hardware-skipped", "n-2: all tests were skipped"),
    ],
)
def test_the_node_with_a_fault_is_named(tmp_path: Path, name: str, says: str) -> None:
    stage = judged(tmp_path, GOOD, result(name))
    assert stage.result == "fail"
    assert stage.reason.startswith(says)


def test_what_only_needs_to_be_monitored_is_no_fault(tmp_path: Path) -> None:
    """In DCGM 4, a warning has the status `Fail`, and its severity tells it apart."""
    assert "targeted_power" not in judged(tmp_path, GOOD, result("dcgm-4-memory-fails")).reason


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("bash: dcgmi: command not found", "no result of dcgmi, which said: bash: dcgmi: command"),
        (GOOD[: len(GOOD) // 2], "no result of dcgmi, which said: {"),
        ("", "1 of 2 nodes have a result"),
    ],
)
def test_a_node_without_a_result_fails(tmp_path: Path, output: str, says: str) -> None:
    stage = judged(tmp_path, GOOD, output)
    assert stage.result == "fail"
    assert says in stage.reason


def test_a_text_of_warnings_is_read(tmp_path: Path) -> None:
    failed = {"gpu_id": "3", "status": "Fail", "warnings": "low bandwidth"}
    categories = [{"category": "Integration", "tests": [{"name": "PCIe", "results": [failed]}]}]
    old = json.dumps({"DCGM GPU Diagnostic": {"test_categories": categories}})
    assert judged(tmp_path, GOOD, old).reason == "n-2: PCIe failed on GPU 3 (low bandwidth)"


def test_the_lines_are_no_measurements(tmp_path: Path) -> None:
    assert read_log(printed("n-1", GOOD, tmp_path)).failures == ()


def test_the_job_takes_all_gpus_of_every_node_at_the_level() -> None:
    plan = eks_plan(nodes_of("p5.48xlarge", desired=3))
    job = yaml.safe_load(render_dcgm_diag(plan, JobRequest(level=3)).text)
    assert job["spec"]["completions"] == 3
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == 8
    assert "dcgmi diag --run 3 --json" in container["command"][2]
