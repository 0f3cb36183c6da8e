"""`nccom-tests` for Slurm: one all-reduce over every NeuronCore of every node."""

import pytest

from tests.support.parallelcluster import trn1_plan
from tests.support.slurm_jobs import SCONTROL, cluster, files_of, two_resources_plan
from trainyard.jobs.nodes import JobError


@pytest.mark.parametrize("name", ["all-reduce.sbatch", "addresses.sh"])
def test_the_scripts_of_a_stack_stay_as_they_are(golden, name):
    files = files_of("nccom-tests", two_resources_plan(), compute_resource="queue-0")
    golden(f"jobs/slurm/nccom-tests-trn1/{name}", files[name])


@pytest.fixture
def ran(tmp_path):
    def run(nodes):
        made = cluster(tmp_path, "nccom-tests", trn1_plan())
        made.command("scontrol", SCONTROL)
        made.command("srun")
        made.command("nccom-test", 'echo "root $NEURON_RT_ROOT_COMM_ID, $FI_PROVIDER"')
        ended = made.run(
            "all-reduce.sbatch",
            SLURM_JOB_NUM_NODES=str(nodes),
            SLURM_JOB_NODELIST="n-[1-2]",
            NEURON_RT_ROOT_COMM_ID="",
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout, made.calls("nccom-test")

    return run


def test_there_is_a_rank_for_every_core_and_the_ranks_meet_at_an_address(ran):
    """PR-44: no host name is passed to the collectives."""
    said, (call,) = ran(2)
    assert call.startswith("allr -r 64 ")
    assert call.endswith("-N 2 --hosts 10.0.0.1 10.0.0.2")
    assert said == "root 10.0.0.1:63182, efa\n"


def test_one_node_needs_no_hosts(ran):
    _, (call,) = ran(1)
    assert call.startswith("allr -r 32 ")
    assert "--hosts" not in call


def test_a_node_without_the_tools_says_how_to_get_them(tmp_path):
    ended = cluster(tmp_path, "nccom-tests", trn1_plan()).run("all-reduce.sbatch")
    assert ended.returncode == 1
    assert "custom action 'neuron'" in ended.stderr


def test_pairs_of_nodes_are_tested_with_the_addresses_of_slurm(tmp_path):
    made = cluster(tmp_path, "nccom-pairs", trn1_plan())
    made.command("scontrol", SCONTROL)
    made.command("timeout", 'shift; "$@"')
    made.command("nccom-test", 'echo "root $NEURON_RT_ROOT_COMM_ID, $FI_PROVIDER"')
    ended = made.run("pairs.sbatch", SLURM_JOB_NUM_NODES="2", SLURM_JOB_NODELIST="n-[1-2]")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "[pair n-1 n-2] root 10.0.0.1:63182, efa\n"
    (call,) = made.calls("nccom-test")
    assert call.endswith("--data-collector-port 60006 --hosts 10.0.0.1 10.0.0.2")


def test_one_node_has_no_pair():
    with pytest.raises(JobError, match="nccom-pairs tests pairs of nodes"):
        files_of("nccom-pairs", trn1_plan(), nodes=1)
