"""`nccom-pairs`: the tests of pairs of nodes with Neuron devices, and their options."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.support.eks import eks_plan, nodes_of
from tests.support.tracked import ROOT
from tests.trainyard.jobs.test_nccl_pairs import bash
from tests.trainyard.verify.test_verdict import nodes
from trainyard.jobs.nccom import nccom_pair_tests, render_nccom_pairs
from trainyard.jobs.nodes import JobError, JobRequest
from trainyard.verify.stages import judge_pairs, read_pairs

LOG = ROOT / "tests" / "trainyard" / "verify" / "logs" / "trn1-two-nodes.log"


def test_the_manifest_of_a_stack_stays_as_it_is(golden) -> None:
    plan = eks_plan(nodes_of("trn1.32xlarge", desired=3))
    golden("jobs/nccom-pairs-trn1.yaml", render_nccom_pairs(plan, JobRequest()).text)


def test_pairs_of_a_round_have_a_root_and_a_port_for_their_latencies_each(tmp_path: Path) -> None:
    """They run at the same time, and are all started on the first node."""
    script = f"""\
timeout() {{ shift; "$@"; }}
nccom-test() {{ echo "$NEURON_RT_ROOT_COMM_ID $*"; }}
hosts=(a b c d) addresses=(10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4)
{nccom_pair_tests(32)}"""
    said = {
        line.partition("] ")[0]: line.partition("] ")[2].split() for line in bash(script, tmp_path)
    }
    assert said["[pair b c"] == [
        *("10.0.0.2:63182", "allr", "-r", "64", "-N", "2", "-b", "1GB", "-e", "2GB", "-f", "2"),
        *("-n", "5", "-w", "5", "-d", "fp32", "--check", "--non-interactive"),
        *(
            "--data-collector-host",
            "10.0.0.1",
            "--data-collector-port",
            "60007",
            "--hosts",
            "10.0.0.2",
            "10.0.0.3",
        ),
    ]
    ports = [words[words.index("--data-collector-port") + 1] for words in said.values()]
    assert sorted(ports) == ["60006", "60007", "60008", "60009"]
    assert said["[pair d a"][-2:] == ["10.0.0.4", "10.0.0.1"]


def test_the_log_of_the_guide_is_judged_as_a_pair() -> None:
    text = "".join(f"[pair a b] {line}\n" for line in LOG.read_text(encoding="utf-8").splitlines())
    planned = nodes("trn1.32xlarge", 2)
    stage = judge_pairs(read_pairs(text, planned), planned)
    assert (stage.result, stage.reason) == ("pass", "1 pairs of nodes have at least 47.09 GB/s")


@pytest.mark.parametrize(
    ("group", "request_", "says"),
    [
        (
            nodes_of("trn1.32xlarge"),
            {"nodes": 1},
            "nccom-pairs tests pairs of nodes: use --nodes 2",
        ),
        (nodes_of("trn1.32xlarge", efa=False), {}, "has no EFA"),
        (nodes_of("p5.48xlarge"), {}, "no node group with Neuron devices"),
    ],
)
def test_refuses_what_has_no_pairs(group, request_: dict[str, int], says: str) -> None:
    with pytest.raises(JobError, match=says):
        render_nccom_pairs(eks_plan(group), JobRequest(**request_))


def test_pods_run_as_those_of_nccom_tests() -> None:
    plan = eks_plan(nodes_of("trn1.32xlarge"))
    *_, job = yaml.safe_load_all(render_nccom_pairs(plan, JobRequest()).text)
    spec = job["spec"]["template"]["spec"]
    assert (job["metadata"]["name"], spec["schedulerName"]) == ("nccom-pairs-trn1", "my-scheduler")
