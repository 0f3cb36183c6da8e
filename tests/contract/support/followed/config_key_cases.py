"""The snapshot that a volume of a Slurm cluster begins with."""

import pytest
from botocore.stub import Stubber

from tests.support.account import in_slurm, refused
from tests.support.parallelcluster import raw_p4de
from tests.support.shared_storage import EBS, planned
from trainyard.components.account.reader import AccountReader
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.named import names_in
from trainyard.components.named.checks import OBJECT_KINDS
from trainyard.components.named.facts import SnapshotFacts

SNAPSHOT = "snap-0123456789abcdef0"
ENTRY = {**EBS, "snapshot_id": SNAPSHOT}
COMPLETE = SnapshotFacts(state="completed")
RAW = raw_p4de(storage={"apps": ENTRY})


def test_parallelcluster_gets_it():
    assert planned({"apps": ENTRY}).entry("apps").settings["SnapshotId"] == SNAPSHOT
    assert "SnapshotId" not in planned({"apps": EBS}).entry("apps").settings


def test_the_account_is_asked_for_it():
    (named,) = names_in(load_stack_config(RAW, stack_file="Pulumi.pc-p4de.yaml").storage["apps"])
    assert (named.kind, named.name, named.key) == ("ebs-snapshot", SNAPSHOT, "snapshot_id")


@pytest.mark.parametrize(
    ("found", "accepted"),
    [(COMPLETE, True), (SnapshotFacts(state="pending"), False), (None, False)],
)
def test_only_a_complete_one_is_accepted(found, accepted):
    judgement = in_slurm(RAW, {("ebs-snapshot", SNAPSHOT): found})
    assert ("storage.apps.snapshot_id" in refused(judgement, "snapshots")) != accepted


@pytest.mark.parametrize(
    ("answer", "found"), [([{"SnapshotId": SNAPSHOT, "State": "completed"}], COMPLETE), ([], None)]
)
def test_it_is_read_as_ec2_answers(monkeypatch, answer, found):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    reader = AccountReader(region="us-west-2")
    asked = {"Filters": [{"Name": "snapshot-id", "Values": [SNAPSHOT]}]}
    with Stubber(reader.client("ec2")) as ec2:
        ec2.add_response("describe_snapshots", {"Snapshots": answer}, asked)
        assert OBJECT_KINDS["ebs-snapshot"].look_up(reader, SNAPSHOT) == found
