"""`run` with the Slurm of a sandbox: through EC2 and Systems Manager of the emulated account."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.parallelcluster import rendered
from tests.support.programs import render_training_directory
from tests.support.sandbox_aws import Account
from tests.support.sandbox_here import record_sandbox
from tests.support.stacks import stack_plan
from trainyard.components.tagging import PARALLELCLUSTER_NODE_TAG, PARALLELCLUSTER_TAG
from trainyard.jobs.slurm.nodes import SlurmRequest
from trainyard.jobs.training import TrainingRequest
from trainyard.sandbox.engine.slurm import ensure_slurm
from trainyard.sandbox.parallelcluster.provider.account import Record, Records
from trainyard.sandbox.processes import Spawner
from trainyard.sandbox.slurm.blocks import BlockInstances
from trainyard.sandbox.slurm.head_nodes import HeadNodes
from trainyard.schedulers.job_wait import JobWait
from trainyard.schedulers.slurm import submission as slurm_submission
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of

pytestmark = pytest.mark.engine

NAME = "pc-gpu"
PLAN = stack_plan(NAME)
RANKS = 'echo "rank $RANK of $WORLD_SIZE"'


@pytest.fixture
def cluster(account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A deployed cluster, and a user whose boto3 reaches the account."""
    spawner, records = Spawner(tmp_path / "processes"), Records(tmp_path / "clusters")
    configuration = json.loads(json.dumps(rendered(PLAN), default=str))
    at = "2026-11-25T00:00:00.000Z"
    records.write(
        Record(
            name=NAME,
            configuration=configuration,
            stack_id="arn",
            created=at,
            updated=at,
            status="CREATE_COMPLETE",
        )
    )
    instances = BlockInstances(account.server.application.lock, "us-west-2")
    nodes = HeadNodes(
        tmp_path / "slurm", records, instances, lambda: ensure_slurm(print), spawner.spawn
    )
    account.server.use_head_nodes(nodes)
    image = account.ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    for kind in ("HeadNode", "Compute"):
        tags = {PARALLELCLUSTER_TAG: NAME, PARALLELCLUSTER_NODE_TAG: kind}
        listed = [{"Key": name, "Value": value} for name, value in tags.items()]
        account.ec2.run_instances(
            ImageId=image,
            InstanceType="m5.large",
            MinCount=1,
            MaxCount=1,
            TagSpecifications=[{"ResourceType": "instance", "Tags": listed}],
        )
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path / "sandbox"))
    record_sandbox(tmp_path / "sandbox", account.server)
    yield
    nodes.stop_all()
    spawner.stop_all()
    account.server.reset()


def test_a_program_runs_on_every_accelerator_and_its_log_is_printed(cluster: None, capsys) -> None:
    request = TrainingRequest(command=("bash", "-c", RANKS))
    job, _ = render_training_directory(PLAN, request, SlurmRequest(nodes=2))
    shown: list[str] = []
    target = target_of(find_stack_file(NAME), sandbox=True)
    wait = JobWait(poll_seconds=0.1, show=lambda text: shown.extend(text.splitlines()))
    slurm_submission.submit_directory(PLAN, job, "train", target=target, wait=wait)
    printed = capsys.readouterr()
    assert printed.out == "1\n"
    assert "Slurm job 1 (train) is COMPLETED" in printed.err
    assert sorted(shown) == sorted(f"rank {each} of 16" for each in range(16))
