"""`nccl-tests` for Slurm: one build, one test over all nodes."""

import pytest

from tests.support.parallelcluster import p4de_plan, plan
from tests.support.slurm_jobs import cluster, files_of, mixed_plan

RANKS = """\
for rank in $(seq 0 31); do
  printf '#  Rank %2d Group  0 Pid %6d on compute-gpu-st-1 device %2d\\n' "$rank" 1 0
done"""
ALONE = RANKS.replace("seq 0 31", "seq 0 7; seq 0 7; seq 0 7; seq 0 7")


@pytest.mark.parametrize("name", ["settings.sh", "build.sbatch", "all-reduce.sbatch"])
def test_the_scripts_of_a_stack_stay_as_they_are(golden, name):
    golden(f"jobs/slurm/nccl-tests-p4de/{name}", files_of("nccl-tests", p4de_plan())[name])


def test_the_scripts_for_pairs_differ_in_the_test_only(golden):
    files = files_of("nccl-pairs", p4de_plan())
    golden("jobs/slurm/nccl-pairs-p4de/pairs.sbatch", files.pop("pairs.sbatch"))
    other = files_of("nccl-tests", p4de_plan())
    assert files == {name: other[name] for name in ("settings.sh", "build.sbatch")}


@pytest.fixture
def built(tmp_path):
    """A cluster with a build of NCCL's tests."""
    made = cluster(tmp_path, "nccl-tests", p4de_plan())
    made.command("nvidia-smi", "echo 8.0")
    made.command("curl")
    made.command("tar")
    made.command(
        "make",
        'for word in "$@"; do case $word in BUILDDIR=*/nccl-tests)\n'
        '  mkdir -p "${word#*=}"; touch "${word#*=}/all_reduce_perf"\n'
        '  chmod +x "${word#*=}/all_reduce_perf" ;; esac; done',
    )
    made.command("srun")
    made.command("scontrol", "printf 'n-%s\\n' 1 2 3 4")
    done = made.run("build.sbatch")
    assert done.returncode == 0, done.stderr
    return made


def test_the_build_is_for_the_gpus_of_the_node_and_knows_mpi(built):
    """DF-11: without MPI every process is a separate test."""
    library, tests = built.calls("make")
    for call in (library, tests):
        assert "NVCC_GENCODE=-gencode=arch=compute_80,code=sm_80" in call
    assert " MPI=1 MPI_HOME=/opt/amazon/openmpi " in tests


# `git rev-parse TAG^{commit}` in the repositories, for v2.30.4-1 and v2.18.3.
NCCL = "1933fdd6360a8bfccaa0166bd71bce363d32e5b6"
NCCL_TESTS = "f727aa2a540fef911de9d7bfd8852bc5d2c69815"


def test_what_is_built_is_pinned(built):
    library, tests = built.calls("curl")
    assert library.endswith(f"https://github.com/NVIDIA/nccl/archive/{NCCL}.tar.gz")
    assert tests.endswith(f"https://github.com/NVIDIA/nccl-tests/archive/{NCCL_TESTS}.tar.gz")


def test_a_second_build_does_nothing(built):
    before = built.calls("make")
    again = built.run("build.sbatch")
    assert "is there already" in again.stdout
    assert built.calls("make") == before


def test_a_build_that_fails_leaves_nothing_that_looks_complete(tmp_path):
    made = cluster(tmp_path, "nccl-tests", p4de_plan())
    made.command("nvidia-smi", "echo 8.0")
    for name in ("curl", "tar"):
        made.command(name)
    made.command("make", "exit 2")
    assert made.run("build.sbatch").returncode == 2
    assert not list((tmp_path / "shared").glob("*/nccl-tests/*"))


def mpirun(made, tmp_path, output, script="all-reduce.sbatch"):
    """Run the test with an Open MPI that records its arguments."""
    home = tmp_path / "mpi"
    (home / "bin").mkdir(parents=True)
    made.command("mpirun", output)
    (made.commands / "mpirun").rename(home / "bin" / "mpirun")
    nodes = {"SLURM_JOB_NUM_NODES": "4", "SLURM_JOB_NODELIST": "n-[1-4]"}
    return made.run(script, **nodes, MPI_HOME=str(home))


def test_one_test_has_a_rank_for_every_gpu_of_every_node(built, tmp_path):
    ended = mpirun(built, tmp_path, RANKS)
    assert ended.returncode == 0, ended.stderr
    *alone, call = built.calls("mpirun")
    assert sorted(each[:18] for each in alone) == [f"-n 8 --host n-{n}:8 " for n in (1, 2, 3, 4)]
    assert "[alone n-1] #  Rank  0 " in ended.stdout
    (versions,) = built.calls("srun")
    assert versions.endswith("/versions.sh")
    assert call.startswith("-n 32 --map-by ppr:8:node --bind-to none ")
    assert call.endswith("all_reduce_perf -b 8 -e 16G -f 2 -g 1 -c 1 -n 100")


def test_four_tests_of_a_node_each_are_no_result(built, tmp_path):
    """DF-11: their figures look plausible, but do not measure the network."""
    ended = mpirun(built, tmp_path, ALONE)
    assert ended.returncode == 1
    assert "had 8 ranks, not 32" in ended.stderr


def test_a_test_that_fails_fails_the_job(built, tmp_path):
    assert mpirun(built, tmp_path, f"{RANKS}\nexit 4").returncode == 4


def test_pairs_of_nodes_have_their_hosts_in_every_line(built, tmp_path):
    files = files_of("nccl-pairs", p4de_plan())
    (built.scripts / "pairs.sbatch").write_text(files["pairs.sbatch"])
    built.command("scontrol", "printf 'n-%s\\n' 1 2 3")
    ended = mpirun(built, tmp_path, 'echo "of $4"', script="pairs.sbatch")
    assert ended.returncode == 0, ended.stderr
    assert sorted(ended.stdout.splitlines()) == [
        "[pair n-1 n-2] of n-1:8,n-2:8",
        "[pair n-2 n-3] of n-2:8,n-3:8",
        "[pair n-3 n-1] of n-3:8,n-1:8",
    ]
    assert all(call.startswith("-n 16 --host ") for call in built.calls("mpirun"))
    assert all(
        call.endswith(" -b 1G -e 16G -f 2 -g 1 -c 1 -n 20") for call in built.calls("mpirun")
    )


def test_the_test_says_what_to_do_first(tmp_path):
    ended = cluster(tmp_path, "nccl-tests", p4de_plan()).run("all-reduce.sbatch")
    assert ended.returncode == 1
    assert "sbatch build.sbatch" in ended.stderr


def test_settings_that_harm_are_left_out():
    """A23, A24: libfabric and the plugin choose correctly by default."""
    scripts = "".join(files_of("nccl-tests", p4de_plan()).values())
    for name in ("FI_EFA_", "FI_PROVIDER", "NCCL_PROTO", "RDMAV_"):
        assert name not in scripts
    assert "export NCCL_NET='AWS Libfabric'" in scripts


def test_nodes_without_efa_use_tcp():
    assert "export NCCL_NET=Socket" in files_of("nccl-tests", plan())["all-reduce.sbatch"]


def test_jobs_take_whole_nodes_of_their_queue():
    script = files_of("nccl-tests", mixed_plan(), queue="compute-gpu")["all-reduce.sbatch"]
    assert script.splitlines()[1:9] == [
        "#SBATCH --job-name=nccl-tests",
        "#SBATCH --partition=compute-gpu",
        "#SBATCH --nodes=4",
        "#SBATCH --ntasks-per-node=8",
        "#SBATCH --gpus-per-node=8",
        "#SBATCH --exclusive",
        "#SBATCH --mem=0",
        "#SBATCH --output=%x-%j.out",
    ]
