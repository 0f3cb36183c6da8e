"""PC-01: the panel of a Slurm cluster that is up, with the next steps."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.schedulers.slurm.summary import Summary, next_commands, print_summary
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of

SSH = "ssh ec2-user@203.0.113.20"
SESSION = "aws ssm start-session --target i-0123456789abcdef0 --region us-west-2"


def summary(*, sandbox: bool = False, **outputs: Any) -> Summary:
    return Summary(
        target=target_of(find_stack_file("pc-gpu"), sandbox=sandbox),
        outputs={
            "cluster_name": "pc-gpu",
            "cluster_version": "3.16.1",
            "cluster_status": "CREATE_COMPLETE",
            "compute_fleet_status": "RUNNING",
            "head_node": {
                "instance_id": "i-0123456789abcdef0",
                "private_ip": "10.0.16.20",
                "public_ip": "203.0.113.20",
            },
            "ssh_command": SSH,
            "ssm_command": SESSION,
            "log_group": "/aws/parallelcluster/pc-gpu-202611211200",
            "validation_messages": "[]",
            "queues": {
                "compute-gpu": {
                    "distributed-ml": {
                        "instance_type": "p4de.24xlarge",
                        "minimum": 4,
                        "maximum": 4,
                    }
                },
                "inference": {"g5": {"instance_type": "g5.12xlarge", "minimum": 1, "maximum": 10}},
            },
            "file_systems": {
                "fsx": {
                    "type": "FsxLustre",
                    "mount_directory": "/fsx",
                    "outlives_the_cluster": True,
                }
            },
            "notes": ["reservation training: no compute resource uses it"],
            **outputs,
        },
        changes={"create": 5, "same": 0},
    )


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]):

    def show(value: Summary) -> str:
        print_summary(value)
        return capsys.readouterr().out

    return show


@pytest.mark.parametrize(
    "fact",
    [
        "pc-gpu · AWS",
        "pc-gpu, ParallelCluster 3.16.1",
        "CREATE_COMPLETE, compute fleet RUNNING",
        "i-0123456789abcdef0  203.0.113.20, inside 10.0.16.20",
        SSH,
        SESSION,
        "4 x p4de.24xlarge  compute-gpu-st-distributed-ml-[1-4]",
        "1 to 10 x g5.12xlarge  inference-st-g5-1, inference-dy-g5-[1-9]",
        "FsxLustre at /fsx, kept after the cluster",
        "/aws/parallelcluster/pc-gpu-202611211200",
        "reservation training: no compute resource uses it",
        "Resources: 5 changed (5 create), 0 unchanged",
    ],
)
def test_the_panel_says(printed, fact: str) -> None:
    assert fact in printed(summary())


def test_a_private_head_node_is_reached_through_session_manager(printed) -> None:
    private = {"instance_id": "i-0123456789abcdef0", "private_ip": "10.0.16.20", "public_ip": None}
    shown = printed(summary(head_node=private, ssh_command=None))
    assert "ssh " not in shown
    assert SESSION in shown


@pytest.mark.parametrize(
    ("said", "note"),
    [
        pytest.param('[{"level": "WARNING", "message": "watch this"}]', "watch this", id="listed"),
        pytest.param('TRUNCATED:[{"level": "WARN', "TRUNCATED:", id="cut-off"),
    ],
)
def test_what_the_validators_say_is_shown(printed, said: str, note: str) -> None:
    assert note in printed(summary(validation_messages=said))


def test_what_is_only_information_is_left_out(printed) -> None:
    said = '[{"level": "INFO", "message": "retained, as was asked for"}]'
    assert "retained, as was" not in printed(summary(validation_messages=said))


def test_the_ways_in_come_first_and_only_where_there_is_a_machine() -> None:
    assert next_commands(summary())[:2] == [SSH, SESSION]
    assert SSH not in next_commands(summary(sandbox=True))


@pytest.mark.parametrize(
    ("instance_type", "job"),
    [
        pytest.param("p4de.24xlarge", "nccl-tests", id="gpus"),
        pytest.param("trn1.32xlarge", "nccom-tests", id="trainium"),
        pytest.param("m5.8xlarge", None, id="no-accelerators"),
    ],
)
def test_the_job_to_try_next_is_the_one_for_the_accelerators(instance_type, job) -> None:
    nodes = {"instance_type": instance_type, "minimum": 0, "maximum": 2}
    commands = next_commands(summary(queues={"work": {"nodes": nodes}}))
    jobs = [command.split()[3] for command in commands if command.startswith("./trainyard job")]
    assert jobs == ([job] if job else [])


def test_every_command_to_try_next_goes_to_the_same_place() -> None:
    ours = [c for c in next_commands(summary(sandbox=True)) if " pc-gpu " in f"{c} "]
    assert ours
    assert all("--sandbox" in command for command in ours)
    assert not [command for command in next_commands(summary()) if "sandbox" in command]
