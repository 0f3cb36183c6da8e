"""`job` for ParallelCluster stacks: written files, and messages."""

from __future__ import annotations

import pytest

from tests.support.eks import p5
from tests.support.parallelcluster import raw_g4dn, raw_p4de, raw_trn1
from tests.support.stacks import PARALLELCLUSTER_STACKS
from tests.trainyard.cli.support.stack_jobs import job_of, pools_with_efa
from trainyard.sandboxes import faults as sandbox_faults


@pytest.fixture
def job(trainyard, stack_file, tmp_path, monkeypatch):
    """Run `job` in an empty directory, for a stack file with this configuration."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)

    def run(cluster, *arguments):
        return trainyard("job", "p5-cb", *arguments, "--stack-file", stack_file(cluster))

    return run


def written(path):
    return sorted(found.name for found in path.iterdir())


NCCL = ["all-reduce.sbatch", "build.sbatch", "settings.sh", "versions.sh"]
BERT = [
    "addresses.sh",
    "compile.sbatch",
    "phase1.sh",
    "phase2.sh",
    "settings.sh",
    "setup.sh",
    "submit.sh",
    "train.sbatch",
    "worker.sh",
]


@pytest.mark.parametrize(
    ("cluster", "name", "files", "nodes"),
    [
        pytest.param(
            raw_p4de(),
            "nccl-tests",
            NCCL,
            "4 x p4de.24xlarge (compute-gpu/distributed-ml)",
            id="nccl",
        ),
        pytest.param(
            raw_trn1(),
            "nccom-tests",
            ["addresses.sh", "all-reduce.sbatch", "versions.sh"],
            "16 x trn1.32xlarge (compute1/queue1-i1)",
            id="nccom",
        ),
        pytest.param(
            raw_trn1(),
            "bert-pretraining",
            BERT,
            "16 x trn1.32xlarge (compute1/queue1-i1)",
            id="bert",
        ),
    ],
)
def test_writes_a_directory_and_says_what_comes_next(job, tmp_path, cluster, name, files, nodes):
    result = job(cluster, name)
    assert result.exit_code == 0, result.output
    directory = tmp_path / "here" / f"p5-cb-{name}"
    assert written(directory) == files
    assert nodes in result.stdout
    for said in ("scp -i KEY_FILE -r", f"cd p5-cb-{name}", "squeue --partition", "sinfo"):
        assert said in result.stdout


def test_the_directory_can_be_named(job, tmp_path):
    result = job(raw_p4de(), "nccl-tests", "--output", tmp_path / "there")
    assert result.exit_code == 0, result.output
    assert written(tmp_path / "there") == NCCL
    assert "cd there" in result.stdout


def test_a_directory_with_files_is_only_written_by_force(job, tmp_path):
    target = tmp_path / "there"
    assert job(raw_p4de(), "nccl-tests", "--output", target).exit_code == 0
    again = job(raw_p4de(), "nccl-tests", "--output", target)
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert job(raw_p4de(), "nccl-tests", "--output", target, "--force").exit_code == 0


def test_a_named_storage_and_number_of_nodes_reach_the_scripts(job, tmp_path):
    assert job(raw_p4de(), "nccl-tests", "--nodes", "2").exit_code == 0
    directory = tmp_path / "here" / "p5-cb-nccl-tests"
    assert "#SBATCH --nodes=2\n" in (directory / "all-reduce.sbatch").read_text()
    assert "shared=/fsx/" in (directory / "settings.sh").read_text()


def test_weak_scaling_takes_any_number_of_nodes(job, tmp_path):
    result = job(raw_trn1(), "bert-pretraining", "--nodes", "12", "--scaling", "weak")
    assert result.exit_code == 0, result.output
    text = (tmp_path / "here" / "p5-cb-bert-pretraining" / "phase1.sh").read_text()
    assert "a global batch of 196608 sequences" in text


@pytest.mark.parametrize(("stack", "pool"), pools_with_efa(PARALLELCLUSTER_STACKS).items())
def test_every_stack_file_has_the_job_for_its_accelerators(trainyard, tmp_path, stack, pool):
    target = tmp_path / "job"
    options = ("--queue", pool.queue, "--sandbox", "--output", target)
    result = trainyard("job", stack, job_of(pool), *options)
    assert result.exit_code == 0, result.output
    assert written(target)


@pytest.mark.parametrize("stack", ["pc-trn1", "pc-trn1-ultracluster"])
def test_the_stacks_of_the_tutorial_have_its_job(trainyard, tmp_path, stack):
    target = tmp_path / "job"
    result = trainyard("job", stack, "bert-pretraining", "--sandbox", "--output", target)
    assert result.exit_code == 0, result.output
    assert written(target) == BERT


@pytest.mark.parametrize(
    ("cluster", "arguments", "said"),
    [
        pytest.param(
            raw_p4de(),
            ("efa-smoke",),
            "available: nccl-tests, nccl-pairs, nccom-tests, nccom-pairs, bert-pretraining",
            id="job-of-eks",
        ),
        pytest.param(
            p5(),
            ("bert-pretraining",),
            "available: nccl-tests, nccl-pairs, nccom-tests, nccom-pairs, efa-smoke",
            id="job-of-slurm",
        ),
        pytest.param(
            raw_p4de(), ("bert-pretraining",), "no compute resource with Neuron devices", id="gpu"
        ),
        pytest.param(
            raw_trn1(),
            ("bert-pretraining", "--nodes", "12"),
            "choose --nodes 1, 2, 4, 8, 16, or --scaling weak",
            id="batch",
        ),
        pytest.param(
            raw_p4de(),
            ("nccl-tests", "--group", "p4de", "-n", "vision"),
            "omit --group and --namespace",
            id="options-of-eks",
        ),
        pytest.param(
            p5(),
            ("nccl-tests", "--queue", "compute", "--output", "there"),
            "omit --queue and --output",
            id="options-of-slurm",
        ),
        pytest.param(
            raw_p4de(),
            ("nccl-tests", "--level", "1"),
            "nccl-tests has no level: omit --level",
            id="level",
        ),
        pytest.param(
            raw_p4de(),
            ("nccl-tests", "--scaling", "weak"),
            "nccl-tests is not a training job: omit --scaling",
            id="scaling",
        ),
        pytest.param(
            raw_g4dn(),
            ("nccl-tests", "--queue", "gpu"),
            "there is: compute/g4dn",
            id="no-such-queue",
        ),
    ],
)
def test_refuses_and_writes_nothing(job, tmp_path, cluster, arguments, said):
    result = job(cluster, *arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert not written(tmp_path / "here")


@pytest.mark.parametrize(
    ("cluster", "arguments", "said"),
    [
        pytest.param(
            raw_p4de(), ("nccl-pairs",), "give a recorded log to nccl-build with", id="build"
        ),
        pytest.param(raw_trn1(), ("nccom-tests",), "recorded log to nccom-tests with", id="test"),
        pytest.param(raw_trn1(), ("bert-pretraining",), "omit --submit", id="training"),
    ],
)
def test_the_sandbox_refuses_jobs_that_its_schedule_does_not_name(
    job, monkeypatch, cluster, arguments, said
):
    named = [{"happens": "container-succeeds", "job": name} for name in ("nccl-p*", "bert-*")]
    others = [{"happens": "throttled", "call": "ec2:*"}, {"happens": "node-lost", "job": "*"}]
    monkeypatch.setattr(sandbox_faults, "in_force", lambda: others + named)
    result = job(cluster, *arguments, "--submit", "--sandbox")
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert "nccl-pairs" not in result.stderr
