"""A cluster that does not answer: the account's data, and objects that count as deleted."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from botocore.exceptions import ClientError

from trainyard.cli import options
from trainyard.cli.failures import WrongUseError
from trainyard.deployment.operation_end import finish
from trainyard.diagnosis.unreachable_cluster import (
    recorded_cluster,
    variables_of_gone_cluster,
    why_it_is_unreachable,
)
from trainyard.engine.engine_events import EngineError
from trainyard.engine.engine_failure import why_it_failed
from trainyard.engine.engine_process import EngineResult
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.stack_files.stacks_directory import VARIABLE, create

ACCOUNT = "123456789012"
CLUSTER = {
    "type": "aws:eks/cluster:Cluster",
    "id": "recorded",
    "outputs": {"arn": f"arn:aws:eks:us-west-2:{ACCOUNT}:cluster/recorded"},
}
ROLE = {"type": "aws:iam/role:Role", "outputs": {"arn": f"arn:aws:iam::{ACCOUNT}:role/r"}}
PLUGIN = "urn:pulumi:s::trainyard::t$kubernetes:apps/v1:DaemonSet::p5-cb-plugins-nvidia-daemon-set"
UNREACHABLE = EngineError(
    PLUGIN,
    "configured Kubernetes cluster is unreachable. If the cluster was deleted, you can remove this "
    "resource from Pulumi state by rerunning the operation with the PULUMI_K8S_DELETE_UNREACHABLE "
    'environment variable set to "true"',
)


def code(name: str) -> ClientError:
    return ClientError({"Error": {"Code": name, "Message": "no"}}, "DescribeCluster")


class Account:
    """EKS and STS of one account."""

    def __init__(self) -> None:
        self.id = ACCOUNT
        self.answer: Any = code("ResourceNotFoundException")
        self.asked: list[str] = []

    def client(self, _service: str, **_: Any) -> Any:
        return self

    def get_caller_identity(self) -> dict[str, str]:
        return {"Account": self.id}

    def describe_cluster(self, name: str) -> Any:
        self.asked.append(name)
        if isinstance(self.answer, ClientError):
            raise self.answer
        return {"cluster": {"name": name, "status": self.answer}}


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Account:
    made = Account()
    monkeypatch.setattr(
        "boto3.Session.client", lambda _, *given, **more: made.client(*given, **more)
    )
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "not-real")
    return made


def workspace(*resources: Any, stack: str = "p5-cb") -> Any:
    exported = json.dumps({"deployment": {"resources": resources or [CLUSTER, ROLE]}})
    target = options.target(stack, path=None, sandbox=False)
    return SimpleNamespace(
        target=target,
        stack_file=target.stack_file,
        command=SimpleNamespace(output=lambda _: exported),
    )


def test_a_cluster_that_the_account_does_not_have_is_taken_for_gone(account: Account) -> None:
    found = variables_of_gone_cluster(workspace())
    assert found == {"PULUMI_K8S_DELETE_UNREACHABLE": "true"}
    assert account.asked == ["recorded"]


@pytest.mark.parametrize("status", ["ACTIVE", "DELETING", "UPDATING"])
def test_a_cluster_that_the_account_has_is_not(account: Account, status: str) -> None:
    account.answer = status
    with pytest.raises(WrongUseError, match=f"has the cluster recorded, with status {status}"):
        variables_of_gone_cluster(workspace())


def test_an_account_that_does_not_answer_is_no_answer(account: Account) -> None:
    account.answer = code("AccessDeniedException")
    with pytest.raises(
        WrongUseError,
        match=r"could not check whether the account has the cluster: .*AccessDeniedException",
    ):
        variables_of_gone_cluster(workspace())


def test_another_account_or_region_does_not_say_that_a_cluster_is_gone(account: Account) -> None:
    account.id = "210987654321"
    with pytest.raises(WrongUseError, match=f"account 210987654321 .* is for {ACCOUNT}"):
        variables_of_gone_cluster(workspace())
    account.id = ACCOUNT
    moved = {**CLUSTER, "outputs": {"arn": f"arn:aws:eks:eu-west-1:{ACCOUNT}:cluster/recorded"}}
    with pytest.raises(WrongUseError, match="eu-west-1"):
        variables_of_gone_cluster(workspace(moved))
    assert account.asked == []


def test_a_state_without_any_arn_is_of_no_account(account: Account) -> None:
    with pytest.raises(WrongUseError, match="is for no account"):
        variables_of_gone_cluster(workspace({"type": "pulumi:pulumi:Stack"}))


@pytest.mark.usefixtures("account")
def test_a_stack_without_an_eks_cluster_has_none_that_is_gone() -> None:
    with pytest.raises(WrongUseError, match="batch-p5 has no EKS cluster"):
        variables_of_gone_cluster(workspace(stack="batch-p5"))


def test_a_cluster_that_the_state_has_lost_is_looked_for_by_the_name_of_the_stack_file() -> None:
    found = recorded_cluster([ROLE], named="p5-cb")
    assert (found.name, found.accounts, found.regions) == ("p5-cb", {ACCOUNT}, frozenset())


def test_the_way_out_of_a_gone_cluster_names_both_commands(account: Account) -> None:
    said = "\n".join(why_it_is_unreachable(workspace()))
    assert "has no cluster recorded: it was deleted outside Pulumi" in said
    assert "./trainyard destroy p5-cb --cluster-gone" in said
    assert "./trainyard refresh p5-cb --cluster-gone" in said
    account.answer = "ACTIVE"
    said = "\n".join(why_it_is_unreachable(workspace()))
    assert "--cluster-gone" not in said
    assert "public_access_cidrs" in said


@pytest.mark.usefixtures("account")
def test_a_failed_destroy_does_not_send_its_user_round_in_a_circle(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # The files that commands write for the stack are in a directory of the test.
    create(tmp_path)
    shutil.copy(find_stack_file("p5-cb").path, tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    failed = EngineResult(255, interrupted=False, errors=(UNREACHABLE,))
    with pytest.raises(typer.Exit):
        finish(failed, workspace(), "destroy")
    said = capsys.readouterr().err
    assert "continue after the cause is fixed" not in said
    assert "./trainyard destroy p5-cb --cluster-gone" in said


@pytest.mark.usefixtures("account")
def test_an_unreachable_cluster_is_said_once_and_its_pods_are_not_looked_at() -> None:
    errors = [UNREACHABLE, EngineError(f"{PLUGIN}-2", UNREACHABLE.message)]
    found = why_it_failed(errors, workspace())
    assert len([line for line in found if "deleted outside Pulumi" in line]) == 1
    assert not [line for line in found if "pods" in line]
