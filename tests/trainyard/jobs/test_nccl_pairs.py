"""`nccl-pairs`: all neighbors in a ring of the nodes, without a node in two tests at a time."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.eks import eks_plan, nodes_of
from trainyard.jobs.nccl import render_nccl_pairs
from trainyard.jobs.node_job import alone_tests, pair_tests
from trainyard.jobs.node_versions import NODE_VERSIONS
from trainyard.jobs.nodes import JobError, JobRequest
from trainyard.verify.stages import read_versions

P5 = nodes_of("p5.48xlarge", desired=4)
# A host that is in a test has a directory.
TEST = """\
  for host in "$1" "$2"; do mkdir "$host" || echo "$host is in another test"; done
  echo tested
  rmdir "$1" "$2"
"""


def bash(script: str, directory: Path) -> list[str]:
    program = shutil.which("bash")
    assert program is not None
    done = subprocess.run(
        [program, "-euo", "pipefail", "-c", script],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("hosts", "pairs"),
    [
        ("a b", ["a b"]),
        ("a b c", ["a b", "b c", "c a"]),
        ("a b c d", ["a b", "b c", "c d", "d a"]),
        ("a b c d e", ["a b", "b c", "c d", "d e", "e a"]),
    ],
)
def test_every_node_is_in_two_pairs_and_in_one_test_at_a_time(
    tmp_path: Path, hosts: str, pairs: list[str]
) -> None:
    said = bash(f"hosts=({hosts})\n{pair_tests(TEST)}", tmp_path)
    assert sorted(said) == [f"[pair {each}] tested" for each in sorted(pairs)]


def test_a_test_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    said = bash(f"hosts=(a b c d)\n{pair_tests('  [[ $1 != b ]]')}", tmp_path)
    assert said == ["[pair b c] the test ended with 1"]


def test_each_node_is_tested_alone(tmp_path: Path) -> None:
    said = bash(f"hosts=(a b)\n{alone_tests('  [[ $1 != b ]] && echo tested')}", tmp_path)
    assert sorted(said) == ["[alone a] tested", "[alone b] the test ended with 1"]


def test_a_node_prints_its_versions(tmp_path: Path) -> None:
    said = bash(f"nvidia-smi() {{ echo 580.95.05; }}\nNODE_NAME=n-1\n{NODE_VERSIONS}", tmp_path)
    found = read_versions("".join(f"{line}\n" for line in said))
    assert found["NVIDIA driver"] == {"n-1": "580.95.05"}
    assert found["kernel"]["n-1"] == os.uname().release
    assert "EFA installer" not in found


def test_the_manifest_of_a_stack_stays_as_it_is(golden) -> None:
    golden("jobs/nccl-pairs-p5.yaml", render_nccl_pairs(eks_plan(P5), JobRequest()).text)


def test_the_log_has_the_name_of_each_node() -> None:
    *_, job = yaml.safe_load_all(render_nccl_pairs(eks_plan(P5), JobRequest()).text)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    (name,) = (each for each in container["env"] if each["name"] == "NODE_NAME")
    assert name["valueFrom"] == {"fieldRef": {"fieldPath": "spec.nodeName"}}
    script = container["command"][2]
    assert "SetEnv" in script
    assert "NODE_NAME=${NODE_NAME:-}" in script
    program = shutil.which("bash")
    assert program is not None
    subprocess.run([program, "-n"], input=script, text=True, check=True)


def test_one_node_has_no_pair() -> None:
    with pytest.raises(JobError, match="use --nodes 2 or more"):
        render_nccl_pairs(eks_plan(P5), JobRequest(nodes=1))
