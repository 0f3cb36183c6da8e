"""Addresses of the nodes, and common settings of Neuron's jobs."""

import shutil
import subprocess

import pytest

from tests.support.parallelcluster import trn1_plan
from tests.support.slurm_jobs import cluster
from trainyard.jobs.slurm.neuron import cores_of_a_node, efa_environment
from trainyard.jobs.slurm.nodes import SlurmRequest, choose_slurm_nodes

SCONTROL = """\
case $2 in
  hostnames) printf '%s\\n' compute1-dy-queue1-i1-1 compute1-dy-queue1-i1-2 ;;
  node) echo "NodeName=$4 Arch=x86_64 NodeAddr=@address@ NodeHostName=$4 Version=25" ;;
esac"""


@pytest.fixture
def addresses(tmp_path):
    """Call the function with a Slurm that returns this address for every node."""

    def call(address, *, scontrol=SCONTROL):
        made = cluster(tmp_path, "nccom-tests", trn1_plan())
        made.command("scontrol", scontrol.replace("@address@", address))
        script = f"set -eu; source {made.scripts}/addresses.sh; node_addresses"
        bash = shutil.which("bash")
        assert bash is not None
        environment = {"PATH": f"{made.commands}:/usr/bin:/bin", "SLURM_JOB_NODELIST": "c-[1-2]"}
        return subprocess.run(
            [bash, "-c", script], env=environment, text=True, capture_output=True, check=False
        )

    return call


def test_nodes_are_known_by_address_so_that_no_name_is_resolved(addresses):
    """PR-44: `Invalid NCCL_COMM_ID` where <host>.<cluster>.pcluster cannot be resolved."""
    assert addresses("10.0.1.7").stdout == "10.0.1.7\n10.0.1.7\n"


def test_a_node_without_an_address_stops_the_job(addresses):
    ended = addresses("compute1-dy-queue1-i1-1")
    assert ended.returncode != 0
    assert "no address for compute1-dy-queue1-i1-1" in ended.stderr


def test_a_slurm_that_does_not_answer_stops_the_job(addresses):
    assert addresses("", scontrol="exit 3").returncode != 0


def test_settings_are_those_of_neurons_page():
    """PR-45; FI_EFA_FORK_SAFE is for Amazon Linux 2 only."""
    nodes = choose_slurm_nodes(trn1_plan(), "neuron", SlurmRequest())
    assert efa_environment(nodes) == {"FI_PROVIDER": "efa", "FI_EFA_USE_DEVICE_RDMA": "1"}
    assert cores_of_a_node(nodes) == 32
