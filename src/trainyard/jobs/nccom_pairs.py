"""`nccom-pairs`: an all-reduce over pairs of nodes with Neuron devices, to find a bad node.

The pairs are those of `trainyard.jobs.part_tests`. All tests are started on the first node, which
the guide of nccom-test allows for hosts that it reaches, also if it is none of them.

Source:
    https://github.com/aws-neuron/aws-neuron-sdk, tools/neuron-sys-tools/nccom-test.rst: MPI
        execution (`--hosts`, the address in NEURON_RT_ROOT_COMM_ID), `--data-collector-host` and
        `--data-collector-port`
"""

from __future__ import annotations

from trainyard.components.catalog.neuron import neuron_cores
from trainyard.components.eks.plan import EksPlan
from trainyard.jobs.mpi import render_mpi_job
from trainyard.jobs.names import NCCOM_PAIRS
from trainyard.jobs.nccom_tests import ADDRESSES, ROOT_PORT, choose_neuron_nodes, nccom_job
from trainyard.jobs.nodes import JobRequest
from trainyard.jobs.part_tests import PART_MINUTES, pair_tests, require_pairs

_COLLECTOR_PORT = 60006
"""The default port at which a test collects the latencies of its nodes; pairs run at the same time
and need one each."""


def render_nccom_pairs(plan: EksPlan, request: JobRequest) -> str:
    """Return the manifest of the job on a node group with Neuron devices.

    Raises:
        JobError: the stack has no such nodes, too few, or no EFA.
    """
    nodes = choose_neuron_nodes(plan, request)
    require_pairs(NCCOM_PAIRS, nodes.count)
    cores = neuron_cores(nodes.accelerators.model, nodes.accelerators.count)
    command = f"{ADDRESSES}{nccom_pair_tests(cores)}"
    return render_mpi_job(nccom_job(NCCOM_PAIRS, plan, nodes, command), nodes, request.namespace)


def nccom_pair_tests(cores: int) -> str:
    """Return Bash commands that test all pairs of the hosts in `hosts`.

    Their addresses are in the array `addresses`, in the same order; the first one is this node.

    Args:
        cores: Number of NeuronCores of a node; each gets one rank.
    """
    # Only messages that use the whole bandwidth.
    test = f"""\
  local one=${{address[$1]}} two=${{address[$2]}}
  NEURON_RT_ROOT_COMM_ID=$one:{ROOT_PORT} timeout {PART_MINUTES}m \\
    nccom-test allr -r {2 * cores} -N 2 -b 1GB -e 2GB -f 2 -n 5 -w 5 -d fp32 --check \\
    --non-interactive --data-collector-host "${{addresses[0]}}" \
    --data-collector-port "$(({_COLLECTOR_PORT} + $3))" --hosts "$one" "$two"
"""
    return f"""\
declare -A address
for index in "${{!hosts[@]}}"; do address[${{hosts[index]}}]=${{addresses[index]}}; done
{pair_tests(test)}"""
