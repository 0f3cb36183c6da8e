"""Every error is refused with one message, before the engine starts; nothing is created.

Each case runs `up --sandbox --yes` against the sandbox's account: schema, plan or account refuse it
with exit code 2, and the account is unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.support.kubernetes import DEFAULT
from tests.support.sandbox import Sandbox, copied_stack_file
from trainyard.cli.app import app

pytestmark = pytest.mark.sandbox

BLOCK = "reservations.block"
P5 = "architecture.node_groups.p5"
PUBLIC_B, PUBLIC_C = "subnet-0b000000000000001", "subnet-0c000000000000001"
PRIVATE_A, PRIVATE_B = "subnet-0a000000000000002", "subnet-0b000000000000002"
TINY = "subnet-0b000000000000282"
ODCR = "cr-00d00000000000002"
AWS_ASSISTED = "cr-0a550000000000001"
ENGINE_WORDS = ("Previewing update", "Updating (", "Resources:")


@pytest.fixture
def up(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run `up` on a changed copy of the stack file, in this process: it may not start anything."""
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(sandbox.directory))

    def run(change: dict[str, Any]) -> Result:
        path = copied_stack_file(tmp_path / "copy.yaml", change)
        arguments = ["up", "p5-cb", "--sandbox", "--yes", "--stack-file", str(path)]
        return CliRunner().invoke(app, arguments)

    return run


@pytest.fixture(scope="module")
def before(sandbox: Sandbox) -> list[str]:
    """The objects of the account, which no test here changes."""
    return sandbox.inventory()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(
            {f"{BLOCK}.reservation_id": "cr-12345"},
            ["reservation_id", "cr-0123456789abcdef0"],
            id="reservation-id-of-the-wrong-form",
        ),
        pytest.param(
            {f"{BLOCK}.reservation_id": "cr-0fffffffffffffff0"},
            ["reservation_id", "cr-0fffffffffffffff0"],
            id="reservation-that-does-not-exist",
        ),
        pytest.param(
            {f"{BLOCK}.reservation_id": "cr-0cb00000000000003"},
            ["reservation_id", "expired"],
            id="reservation-that-has-expired",
        ),
        pytest.param(
            {f"{BLOCK}.reservation_id": "cr-0cb00000000000006"},
            ["p4d.24xlarge", "p5.48xlarge"],
            id="reservation-of-another-type",
        ),
        pytest.param(
            {
                f"{BLOCK}.reservation_id": "cr-0cb00000000000005",
                "network.private_subnet_ids": [PRIVATE_A, PRIVATE_B],
            },
            ["us-west-2d", "private_subnet_ids"],
            id="reservation-in-a-zone-without-a-subnet",
        ),
        pytest.param(
            {f"{BLOCK}.reservation_id": "cr-0cb00000000000004", f"{BLOCK}.instance_count": None},
            ["cr-0cb00000000000004", "1"],
            id="reservation-too-small",
        ),
        pytest.param(
            {f"{BLOCK}.reservation_id": ODCR},
            ["kind: odcr", ODCR],
            id="odcr-under-capacity-block",
        ),
        pytest.param(
            {BLOCK: {"kind": "odcr", "reservation_id": "cr-0123456789abcdef0"}},
            ["kind: capacity-block"],
            id="capacity-block-under-odcr",
        ),
        pytest.param(
            {"network.private_subnet_ids": [PUBLIC_C, PRIVATE_B]},
            ["private_subnet_ids", "internet gateway"],
            id="public-subnets-given-as-private",
        ),
        pytest.param(
            {"network.public_subnet_ids": [PUBLIC_B], "network.private_subnet_ids": [PRIVATE_B]},
            ["two zones"],
            id="control-plane-subnets-in-one-zone",
        ),
        pytest.param(
            {
                "network.private_subnet_ids": [PRIVATE_A, TINY],
                f"{P5}.interface_layout": "efa",
            },
            [TINY, "addresses"],
            id="subnet-too-small-for-the-interfaces",
        ),
        pytest.param(
            {
                f"{P5}.instance_type": "c5.2xlarge",
                f"{P5}.purchase_option": "on-demand",
                "reservations": None,
            },
            ["c5.2xlarge has no EFA interface", "efa_enabled"],
            id="type-without-efa",
        ),
        pytest.param(
            {f"{P5}.instance_type": "p5.48xlrge"},
            ["p5.48xlrge", "p5.48xlarge"],
            id="type-that-does-not-exist",
        ),
        pytest.param(
            {"architecture.kubernetes_version": "1.29"},
            ["kubernetes_version", "1.29", DEFAULT],
            id="kubernetes-version-out-of-support",
        ),
        pytest.param(
            {f"{P5}.placement": {"group": "create"}},
            [f"trainyard:cluster.{P5}.placement", "Capacity Block"],
            id="placement-group-forced-on-a-capacity-block",
        ),
        pytest.param(
            {
                BLOCK: {
                    "kind": "odcr",
                    "reservation_id": AWS_ASSISTED,
                    "provenance": "aws-assisted",
                    "availability_zone": "us-west-2b",
                },
                f"{P5}.placement": {"group": "create"},
            },
            [f"trainyard:cluster.{P5}.placement", "AWS created this reservation"],
            id="placement-group-forced-on-an-aws-assisted-odcr",
        ),
        pytest.param(
            {"network.privat_subnet_ids": [PRIVATE_B]},
            ["privat_subnet_ids", "private_subnet_ids"],
            id="misspelled-key",
        ),
    ],
)
def test_refuses_and_leaves_the_account_as_it_was(
    sandbox: Sandbox,
    up: Callable[..., Result],
    before: list[str],
    change: dict[str, Any],
    words: list[str],
) -> None:
    result = up(change)
    assert result.exit_code == 2, result.output
    assert not [word for word in words if word not in result.stderr], result.stderr
    assert not [word for word in ENGINE_WORDS if word in result.output]
    assert sandbox.inventory() == before


def test_every_problem_is_told_at_once(up: Callable[..., Result]) -> None:
    result = up(
        {
            f"{P5}.instance_type": "p5.48xlrge",
            "architecture.kubernetes_version": "1.29",
        }
    )
    assert result.exit_code == 2
    assert "2 problems; nothing was changed" in result.stderr


def test_a_stack_of_another_region_is_not_taken_to_the_sandbox(
    up: Callable[..., Result], tmp_path: Path
) -> None:
    path = copied_stack_file(tmp_path / "copy.yaml", {})
    path.write_text(path.read_text().replace("us-west-2", "us-east-1"))
    arguments = ["up", "p5-cb", "--sandbox", "--yes", "--stack-file", str(path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "us-east-1" in result.stderr


def test_a_port_that_is_taken_is_named(sandbox: Sandbox, own_directory: Sandbox) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = own_directory.run("sandbox", "start", "--port", str(port))
    assert done.exit_code == 1
    assert f"Port {port} on 127.0.0.1 is in use" in done.stderr
    own_directory.must("sandbox", "start")
    own_directory.must("sandbox", "stop")


@pytest.fixture
def own_directory(tmp_path: Path) -> Sandbox:
    """A sandbox that was never started."""
    return Sandbox(tmp_path / "sandbox")
