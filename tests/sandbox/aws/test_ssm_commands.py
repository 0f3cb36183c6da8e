"""Run Command of Systems Manager: what it accepts, and how a command ends."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.processes import PATIENCE, until
from tests.support.sandbox_aws import ACCOUNT, Account, refused
from trainyard.components.tagging import PARALLELCLUSTER_NODE_TAG, PARALLELCLUSTER_TAG

MISSING = "00000000-0000-4000-8000-000000000000"


@dataclass
class HeadNodes:
    """Head nodes that answer every command as a test says."""

    result: Callable[[], tuple[int, str, str]] = lambda: (0, "", "")
    managed: frozenset[str] = frozenset({"pc"})
    scripts: list[list[str]] = field(default_factory=list)
    timeouts: list[float] = field(default_factory=list)

    def is_managed(self, cluster: str) -> bool:
        return cluster in self.managed

    def run(
        self, cluster: str, commands: Sequence[str], *, timeout_seconds: float
    ) -> subprocess.CompletedProcess[str]:
        self.scripts.append([*commands])
        self.timeouts.append(timeout_seconds)
        return subprocess.CompletedProcess([], *self.result())


@pytest.fixture
def nodes(account: Account) -> Iterator[HeadNodes]:
    made = HeadNodes()
    account.server.use_head_nodes(made)
    yield made
    account.server.reset()


def instance(account: Account, cluster: str = "pc", kind: str = "HeadNode") -> str:
    tags = {PARALLELCLUSTER_TAG: cluster, PARALLELCLUSTER_NODE_TAG: kind}
    (image,) = account.ec2.describe_images(Owners=["amazon"])["Images"][:1]
    launched = account.ec2.run_instances(
        ImageId=image["ImageId"],
        InstanceType="m5.large",
        MinCount=1,
        MaxCount=1,
        TagSpecifications=[
            {
                "ResourceType": "instance",
                "Tags": [{"Key": name, "Value": value} for name, value in tags.items()],
            }
        ],
    )
    return launched["Instances"][0]["InstanceId"]


def send(account: Account, *instance_ids: str, **changes: Any) -> str:
    asked = {
        "InstanceIds": [*instance_ids],
        "DocumentName": "AWS-RunShellScript",
        "Parameters": {"commands": ["true"]},
        **changes,
    }
    return account.client("ssm").send_command(**asked)["Command"]["CommandId"]


def test_a_command_is_at_most_as_large_as_a_document(account: Account, nodes) -> None:
    """https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_CreateDocument.html."""
    node = instance(account)
    with refused("MaxDocumentSizeExceeded"):
        send(account, node, Parameters={"commands": ["x" * 64 * 1024]})


def invocation(account: Account, command: str, node: str) -> dict[str, Any]:
    found = account.client("ssm").get_command_invocation(CommandId=command, InstanceId=node)
    return {name: value for name, value in found.items() if name != "ResponseMetadata"}


def ended(account: Account, **changes: Any) -> dict[str, Any]:
    """Run a command to its end, on the head node of a cluster with another node."""
    node = instance(account)
    instance(account, kind="Compute")
    command = send(account, node, **changes)
    until(
        lambda: invocation(account, command, node)["Status"] not in ("Pending", "InProgress"),
        "the command has ended",
    )
    return invocation(account, command, node)


def test_a_command_is_in_progress_until_its_program_ends(account: Account, nodes) -> None:
    goes_on = threading.Event()
    nodes.result = lambda: (0, "done" * goes_on.wait(PATIENCE), "")
    node = instance(account)
    command = send(account, node)
    until(lambda: nodes.scripts, "the program has begun")
    running = invocation(account, command, node)
    assert (running["Status"], running["StatusDetails"]) == ("InProgress", "InProgress")
    assert (running["ResponseCode"], "ExecutionEndDateTime" in running) == (-1, False)
    goes_on.set()
    account.client("ssm").get_waiter("command_executed").wait(
        CommandId=command, InstanceId=node, WaiterConfig={"Delay": 0, "MaxAttempts": 1000}
    )
    done = invocation(account, command, node)
    assert (done["Status"], done["ResponseCode"]) == ("Success", 0)
    assert done["StandardOutputContent"] == "done"
    assert done["PluginName"] == "aws:runShellScript"
    assert done["ExecutionElapsedTime"].startswith("PT")


def test_a_program_that_fails_has_its_code_and_the_last_line_of_the_agent(account, nodes) -> None:
    nodes.result = lambda: (3, "out\n", "broken\n")
    done = ended(account)
    assert (done["Status"], done["StatusDetails"], done["ResponseCode"]) == ("Failed", "Failed", 3)
    assert done["StandardOutputContent"] == "out\n"
    assert done["StandardErrorContent"] == "broken\nfailed to run commands: exit status 3"


def test_a_program_that_takes_too_long_is_timed_out(account: Account, nodes) -> None:
    def late() -> tuple[int, str, str]:
        raise subprocess.TimeoutExpired("sh", 60)

    nodes.result = late
    done = ended(account, Parameters={"commands": ["sleep 61"], "executionTimeout": ["60"]})
    assert nodes.timeouts == [60.0]
    assert (done["Status"], done["StatusDetails"]) == ("TimedOut", "ExecutionTimedOut")
    assert done["ResponseCode"] == 137


def test_a_head_node_that_does_not_start_says_why(account: Account, nodes) -> None:
    def broken() -> tuple[int, str, str]:
        raise RuntimeError("munged does not start")

    nodes.result = broken
    done = ended(account)
    assert (done["Status"], done["StandardErrorContent"]) == ("Failed", "munged does not start\n")


def test_the_output_has_the_first_characters_only(account: Account, nodes) -> None:
    nodes.result = lambda: (1, "é" * 30_000, "e" * 9_000)
    done = ended(account)
    assert done["StandardOutputContent"] == "é" * 24_000
    assert done["StandardErrorContent"] == "e" * 8_000


def test_commands_run_in_their_directory(account: Account, nodes) -> None:
    parameters = {"commands": ["a", "b"], "workingDirectory": ["/tmp/a b"]}
    assert ended(account, Parameters=parameters)["Status"] == "Success"
    assert (nodes.scripts, nodes.timeouts) == ([["cd '/tmp/a b'", "a", "b"]], [3600.0])


@pytest.mark.parametrize(
    ("cluster", "kind"),
    [("pc", "Compute"), ("another", "HeadNode")],
    ids=["compute node", "no policy"],
)
def test_a_node_without_an_agent_is_in_no_valid_state(account, nodes, cluster, kind) -> None:
    node = instance(account, cluster, kind)
    said = f"Instances [[{node}]] not in a valid state for account {ACCOUNT}"
    with refused("InvalidInstanceId", said):
        send(account, node)
    assert nodes.scripts == []


def test_a_node_that_is_terminated_gets_no_commands(account: Account, nodes) -> None:
    node = instance(account)
    account.ec2.terminate_instances(InstanceIds=[node])
    with refused("InvalidInstanceId"):
        send(account, node)


def test_without_head_nodes_no_instance_has_an_agent(account: Account) -> None:
    with refused("InvalidInstanceId"):
        send(account, instance(account))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"Parameters": {"comands": ["true"]}}, "InvalidParameters"),
        ({"Parameters": {}}, "InvalidParameters"),
        ({"DocumentName": "AWS-RunPatchBaseline"}, "SandboxNotImplemented"),
        ({"MaxErrors": "1"}, "SandboxNotImplemented"),
    ],
)
def test_what_a_command_cannot_be_is_refused(account, nodes, changes, code) -> None:
    node = instance(account)
    with refused(code):
        send(account, node, **changes)


def test_a_command_that_does_not_exist_has_no_invocation(account: Account, nodes) -> None:
    node = instance(account)
    command = send(account, node)
    read = account.client("ssm").get_command_invocation
    with refused("InvocationDoesNotExist"):
        read(CommandId=MISSING, InstanceId=node)
    with refused("InvocationDoesNotExist"):
        read(CommandId=command, InstanceId="i-0123456789abcdef0")
    with refused("InvalidPluginName"):
        read(CommandId=command, InstanceId=node, PluginName="another")
