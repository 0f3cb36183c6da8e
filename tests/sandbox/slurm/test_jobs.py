"""`run`, `jobs`, `logs`, `cancel`, `verify` and `repair` on a real Slurm with the nodes of pc-gpu.

The jobs share its four nodes, which have eight GPUs each on paper. Tests that change the state of a
node restore it.
"""

from __future__ import annotations

import ipaddress
import os
import shlex
import socket
import stat
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.sandbox.slurm.support.real_slurm import RealSlurm, real_slurm
from tests.sandbox.slurm.support.strange_slurm import StrangeSlurm, strange_slurm
from tests.support.listeners import listeners
from tests.support.processes import until
from tests.support.stranger import Stranger, everything_below, sockets_below
from tests.trainyard.cli.test_repair import in_checkout, request
from trainyard.cli import failures
from trainyard.jobs.slurm.directory import write_directory
from trainyard.jobs.slurm.nccl_tests import render_nccl_directory
from trainyard.jobs.slurm.nodes import SlurmRequest, choose_slurm_nodes
from trainyard.schedulers.log_request import LogRequest
from trainyard.schedulers.slurm import repair as slurm_repair
from trainyard.schedulers.slurm.jobs import SlurmJobs, slurm_log
from trainyard.verify.inventory import SHOW_NODES, slurm_inventory

pytestmark = pytest.mark.engine

NODE = "compute-gpu-st-distributed-ml-"
SHOW = 'echo "$PET_NODE_RANK of $PET_NNODES x $PET_NPROC_PER_NODE at $MASTER_ADDR: $*"'
UNTIL_STOPPED = ("bash", "-c", "echo begin; while :; do sleep 0.1; done")
SAVES = 'trap "echo saved; exit 0" TERM; echo begin; while :; do sleep 0.1; done'

INVALID_CREDENTIAL = "Munge decode failed: Invalid credential"
"""What Slurm logs of a credential that was made with another key: `EMUNGE_CRED_INVALID` in
https://github.com/dun/munge/blob/munge-0.5.15/src/libmunge/strerror.c"""

BUILT = """\
cd settings && source ./settings.sh
mkdir -p "$BUILT/nccl-tests"
install /bin/true "$BUILT/nccl-tests/all_reduce_perf"
"""
"""What the build makes, which its job then finds."""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealSlurm]:
    with real_slurm("pc-gpu", tmp_path_factory.mktemp("slurm")) as running:
        yield running


@pytest.fixture(scope="module", autouse=True)
def limited(slurm: RealSlurm) -> str:
    """A job whose time limit ends during the other tests: Slurm looks every 30 seconds."""
    job = slurm.submit("bash", "-c", SAVES, name="limited", time_limit_minutes=60)
    in_state(slurm, job, "RUNNING")
    # From now on, the limit is within the time that is left for a checkpoint.
    slurm.slurm.run("scontrol", "update", f"jobid={job}", "timelimit=5")
    return job


def in_state(slurm: RealSlurm, job: str, state: str) -> None:
    until(lambda: slurm.job(job)["JobState"] == state, f"job {job} is {state}")


def log_of(slurm: RealSlurm, job: str) -> list[str]:
    return [line for text in slurm_log(slurm.run, LogRequest(job=job)) for line in text.split("\n")]


def test_nobody_else_reaches_the_daemons_and_munged(slurm: RealSlurm) -> None:
    """Slurm listens on the address of the machine's name, if that is a loopback address."""
    daemons = [each for each in listeners(os.getpid()) if "/sbin/slurm" in each.command]
    assert len(daemons) == 5
    own = ipaddress.ip_address(socket.gethostbyname(socket.gethostname()))
    assert {each.is_on_loopback for each in daemons} == {own.is_loopback}
    directory = slurm.slurm.layout.sockets
    modes = {each.name: stat.S_IMODE(each.lstat().st_mode) for each in directory.iterdir()}
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert (modes["key"], modes["munge"]) == (0o600, 0o777)


def test_another_user_reads_no_key_and_reaches_no_socket(slurm: RealSlurm) -> None:
    directory, stranger = slurm.slurm.layout.sockets, Stranger()
    every = everything_below(directory)
    assert directory / "key" in every
    assert stranger.opens(every) == []
    sockets = sockets_below(directory)
    assert str(slurm.slurm.layout.munge_socket) in sockets
    assert stranger.connects(sockets) == []


@pytest.fixture(scope="module")
def strange(slurm: RealSlurm) -> Iterator[StrangeSlurm]:
    with strange_slurm(slurm.slurm.layout) as made:
        yield made


@pytest.mark.parametrize(
    ("command", "daemon"),
    [
        (("squeue",), "slurmctld"),
        (("scontrol", "show", "config"), "slurmctld"),
        (("sbatch", "--test-only", "--wrap=true"), "slurmctld"),
        (("scontrol", "show", "slurmd"), f"{NODE}1"),
    ],
    ids=lambda given: given if isinstance(given, str) else " ".join(given),
)
def test_the_daemons_refuse_another_user_who_has_a_munged_of_their_own(
    slurm: RealSlurm, strange: StrangeSlurm, command: tuple[str, ...], daemon: str
) -> None:
    log = slurm.slurm.layout.directory / f"{daemon}.log"
    admitted = strange.asks_with_the_key(*command, node=f"{NODE}1")
    assert admitted.returncode == 0, admitted.stderr
    before = log.read_text(encoding="utf-8").count(INVALID_CREDENTIAL)
    refused = strange.asks(*command, node=f"{NODE}1")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert log.read_text(encoding="utf-8").count(INVALID_CREDENTIAL) > before


def test_every_node_starts_torchrun_with_its_rank_and_all_gpus(slurm: RealSlurm) -> None:
    slurm.program("torchrun", f'{SHOW}; echo "GPUs $CUDA_VISIBLE_DEVICES"')
    slurm.wait(slurm.submit("train.py", "a b", nodes=2, launcher="torchrun"))
    assert sorted(slurm.shown) == [
        "0 of 2 x 8 at 127.0.0.1: train.py a b",
        "1 of 2 x 8 at 127.0.0.1: train.py a b",
        "GPUs 0,1,2,3,4,5,6,7",
        "GPUs 0,1,2,3,4,5,6,7",
    ]


def test_files_are_in_the_working_directory(slurm: RealSlurm) -> None:
    slurm.wait(slurm.submit("bash", "hello.sh", name="files", files={"hello.sh": "echo hello\n"}))
    assert slurm.shown == ["hello"]


def test_a_package_runs_as_its_module(slurm: RealSlurm) -> None:
    files = {
        "llm/__init__.py": "",
        "llm/parts/names.py": "NAME = 'package'\n",
        "llm/train.py": "from llm.parts.names import NAME\nprint(NAME)\n",
    }
    slurm.wait(slurm.submit("python3", "-m", "llm.train", name="package", files=files))
    assert slurm.shown == ["package"]


def test_a_program_that_fails_is_not_started_again_and_gives_its_exit_code(
    slurm: RealSlurm,
) -> None:
    job = slurm.submit("sh", "-c", "echo broken; exit 7", name="fails")
    with pytest.raises(failures.JobFailedError, match="is FAILED: NonZeroExitCode") as failed:
        slurm.wait(job)
    assert failed.value.exit_code == 7
    assert "broken" in slurm.shown
    assert slurm.job(job)["Restarts"] == "0"


def test_a_job_that_loses_a_node_starts_again_until_its_limit(slurm: RealSlurm) -> None:
    slurm.program("torchrun", f"{UNTIL_STOPPED[2]}")
    job = slurm.submit("train.py", name="lost", launcher="torchrun", restarts=1)
    in_state(slurm, job, "RUNNING")
    until(lambda: log_of(slurm, job) == ["begin"], "the first run")
    node = slurm.job(job)["NodeList"]
    slurm.slurm.run("scontrol", "update", f"nodename={node}", "state=down", "reason=lost")
    start_again(slurm, job)
    until(lambda: log_of(slurm, job).count("begin") == 2, "the second run")
    slurm.slurm.run("scontrol", "requeue", job)
    start_again(slurm, job)
    with pytest.raises(failures.JobFailedError) as failed:
        slurm.wait(job)
    assert failed.value.exit_code == 1
    assert slurm.shown[-1] == "the job has lost nodes more than 1 times"
    assert slurm.job(job)["Restarts"] == "2"
    # Only now, because the slurmd of the lost node still ends the first run.
    slurm.slurm.run("scontrol", "update", f"nodename={node}", "state=resume")


def start_again(slurm: RealSlurm, job: str) -> None:
    """Start a job now that Slurm has put back into the queue, where it would wait for a minute."""
    in_state(slurm, job, "PENDING")
    slurm.slurm.run("scontrol", "update", f"jobid={job}", "starttime=now")


def test_a_job_is_listed_and_cancelled(slurm: RealSlurm) -> None:
    job = slurm.submit(*UNTIL_STOPPED, name="endless", nodes=2)
    waits = slurm.submit("true", name="waits", nodes=4)
    in_state(slurm, job, "RUNNING")
    until(lambda: len(log_of(slurm, job)) == 2, "both nodes have begun")
    scheduler = SlurmJobs(slurm.run)
    listed = {each.id: each for each in scheduler.jobs()}
    assert (listed[job].name, listed[job].state, listed[job].nodes) == ("endless", "RUNNING", 2)
    assert listed[job].started is not None
    assert (listed[waits].state, listed[waits].started) == ("PENDING", None)
    for each in (job, waits):
        scheduler.cancel(listed[each])
        with pytest.raises(failures.JobFailedError, match="is CANCELLED"):
            slurm.wait(each)
    ended = {each.id: each for each in scheduler.jobs()}
    assert ended[job].has_ended
    assert ended[job].ended is not None
    assert log_of(slurm, job)[:2] == ["begin", "begin"]
    assert any("CANCELLED AT" in line for line in log_of(slurm, job))


def test_a_job_with_line_breaks_in_its_name_is_listed_and_cancelled(slurm: RealSlurm) -> None:
    named = "a\n99|RUNNING|1|N/A|N/A|x"
    quoted = shlex.quote(named)
    job = slurm.run(f"sbatch --parsable --job-name={quoted} --wrap 'sleep 600'\n").strip()
    scheduler = SlurmJobs(slurm.run)
    listed = {each.id: each for each in scheduler.jobs()}
    assert "99" not in listed
    assert listed[job].name == named
    scheduler.cancel(listed[job])
    until(lambda: {e.id: e.has_ended for e in scheduler.jobs()}[job], "the job to be cancelled")


def test_a_log_is_found_by_the_name_of_its_job_when_slurm_has_forgotten_it(
    slurm: RealSlurm,
) -> None:
    job = slurm.submit("echo", "done", name="forgotten")
    slurm.wait(job)
    assert log_of(slurm, job) == log_of(slurm, "forgotten") == ["done"]


def test_the_gpu_test_waits_for_its_build_and_runs_on_all_nodes(slurm: RealSlurm) -> None:
    """The programs that NVIDIA's GPUs need are here two programs of this test."""
    job, _ = render_nccl_directory(slurm.plan, SlurmRequest(nodes=2))
    slurm.program("mpirun", 'for rank in {0..15}; do echo "#  Rank  $rank Group  0"; done')
    write_directory(job, slurm.shell.home / "settings", force=False)
    slurm.run(BUILT)
    home = f"export MPI_HOME={slurm.programs.parent}"
    slurm.wait(slurm.submit_directory(job, "nccl-tests", before=home))
    assert [line for line in slurm.shown if "Rank" in line][-1] == "#  Rank  15 Group  0"
    assert sum("] kernel: " in line for line in slurm.shown) == 2


def test_the_inventory_reads_the_nodes_and_a_repair_drains_one(
    slurm: RealSlurm, tmp_path: Path, capsys
) -> None:
    def drain(node: str) -> None:
        asked = request(target=in_checkout(tmp_path), node=node, yes=True)
        slurm_repair.drain_node(slurm.plan, asked, lambda *_, **__: nullcontext(slurm))

    nodes = choose_slurm_nodes(slurm.plan, "nvidia", SlurmRequest())
    before = slurm_inventory(nodes, slurm.run(SHOW_NODES)).stage
    assert (before.result, before.reason[:12]) == ("pass", "4 of 4 nodes"), before.reason
    drain(f"{NODE}4")
    assert f"{NODE}4: State=" in capsys.readouterr().out
    after = slurm_inventory(nodes, slurm.run(SHOW_NODES)).stage
    slurm.slurm.run("scontrol", "update", f"nodename={NODE}4", "state=resume")
    assert (after.result, f"{NODE}4 is " in after.reason) == ("fail", True), after.reason
    assert "(repair)" in after.reason
    with pytest.raises(failures.CommandError, match=r"Node .*-9 not found"):
        drain(f"{NODE}9")


def test_a_program_gets_sigterm_and_writes_a_checkpoint_before_its_limit(
    slurm: RealSlurm, limited: str
) -> None:
    slurm.wait(limited)
    assert slurm.shown[0] == "begin"
    assert "saved" in slurm.shown


def test_a_program_that_ignores_sigterm_ends_with_slurm(slurm: RealSlurm) -> None:
    """The last test: it ends the Slurm of this file."""
    pid = slurm.shell.home / "pid"
    ignores = f'trap "" TERM; echo $$ > {pid}; while :; do sleep 0.1; done'
    slurm.submit("bash", "-c", ignores, name="deaf")
    until(lambda: pid.exists() and pid.read_text(), "the program has begun")
    slurm.slurm.stop()
    program = Path("/proc", pid.read_text().strip())
    until(lambda: not program.exists(), "the program has ended")
