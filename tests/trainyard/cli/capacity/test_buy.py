"""`capacity buy` buys what the stack can use, and writes it into the stack file."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import Result

from tests.support.capacity_commands import BUY, STACK, Commands
from tests.support.faults.account import CountedCalls
from tests.support.sandbox_aws import ENDING, EXPIRED
from trainyard.components.capacity.lookup import instance_count
from trainyard.sandbox.aws.transitions import TRANSITIONS
from trainyard.stack_files.stack_files import find_stack_file

ENTRY = "        kind: capacity-block\n"


def test_a_bought_block_is_in_the_stack_file_and_passes_the_checks(
    capacity: Commands, trainyard: Callable[..., Result]
) -> None:
    before = capacity.file.read_text()
    offering = capacity.offering(nodes=4)
    result = capacity.buy(offering)
    assert result.exit_code == 0, result.output
    (reservation_id,) = capacity.bought()
    assert f"bought {reservation_id}" in result.stdout
    assert "2 of 4 instances are not used" in result.stdout
    # EC2 does not tell the fee afterwards.
    lines = f"        reservation_id: {reservation_id}\n        upfront_fee_usd: 21143.81\n"
    wanted = before.replace(ENTRY, f"{ENTRY}{lines}")
    assert capacity.file.read_text() == wanted.replace("instance_count: 2", "instance_count: 4")
    assert capacity.records() == []
    for live in ((), ("--live",)):
        assert trainyard("check", STACK, *live).exit_code == 0
    tags = capacity.account.reservation(reservation_id)["Tags"]
    assert {"Key": "trainyard:stack", "Value": STACK} in tags
    listed = json.loads(capacity("list", "--json").stdout)
    (found,) = [each for each in listed if each["reservation_id"] == reservation_id]
    assert (found["stacks"], found["state"], found["hours_left"]) == ([STACK], "scheduled", 168)
    assert (found["fee_usd"], found["left_usd"]) == (21143.81, 21143.81)
    assert "paid 21,143.81 USD, 21,143.81 USD left" in capacity("list").stdout


def test_a_next_block_is_a_further_block_of_the_same_nodes(
    capacity: Commands, trainyard: Callable[..., Result]
) -> None:
    assert capacity.buy(capacity.offering()).exit_code == 0
    result = capacity.buy(capacity.offering(), "--entry", "block")
    assert result.exit_code == 2
    assert "`block` has a block that can be used until" in result.stderr
    result = capacity.buy(capacity.offering(), "--entry", "next")
    assert result.exit_code == 0, result.output
    assert "architecture.node_groups.p5: up to 2 nodes" in result.stdout
    assert "a further block with nodes of its own, p5-next" in result.stdout
    assert "          further_blocks: [next]\n" in capacity.file.read_text()
    assert len(capacity.bought()) == 2
    assert trainyard("check", STACK, "--live").exit_code == 0


@pytest.mark.parametrize("old", [EXPIRED, ENDING])
@pytest.mark.usefixtures("unchecked")
def test_a_block_that_nodes_have_left_makes_room(capacity: Commands, old: str) -> None:
    """They leave it 40 minutes before its end."""
    capacity.write((ENTRY, f"{ENTRY}        reservation_id: {old}\n"))
    assert capacity.buy(capacity.offering()).exit_code == 0
    assert old not in capacity.file.read_text()


@pytest.mark.usefixtures("unchecked")
def test_a_block_whose_payment_is_processed_is_not_overwritten(capacity: Commands) -> None:
    TRANSITIONS.scale = 1
    assert "AWS processes the payment" in capacity.buy(capacity.offering()).output
    result = capacity.buy(capacity.offering(), "--entry", "block")
    assert result.exit_code == 2
    assert "`block` has a block that can be used until" in result.stderr
    assert len(capacity.bought()) == 1


def change_offerings(capacity: Commands, old: str, new: str) -> None:
    """Change the offerings that the last search has found."""
    path = capacity.file.parent / ".trainyard" / "capacity" / "offerings.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"us-west-2"', '"us-east-2"', "search with --regions us-west-2"),
        ("123456789012", "210987654321", "was offered to the account 210987654321"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_an_offering_of_another_region_or_account_is_not_bought(
    capacity: Commands, counted: CountedCalls, old: str, new: str, said: str
) -> None:
    offering = capacity.offering()
    change_offerings(capacity, old, new)
    result = capacity.buy(offering)
    assert result.exit_code == 2
    assert said in result.stderr
    assert counted.done[BUY] == 0


@pytest.mark.usefixtures("unchecked")
def test_a_fee_in_another_currency_is_not_written_as_usd(capacity: Commands) -> None:
    offering = capacity.offering()
    change_offerings(capacity, '"USD"', '"CNY"')
    assert capacity.buy(offering).exit_code == 0
    assert "upfront_fee_usd" not in capacity.file.read_text()


@pytest.mark.usefixtures("unchecked")
def test_nodes_use_every_block_that_is_bought(capacity: Commands) -> None:
    """An entry that was taken out of `further_blocks` has no nodes until it gets a block."""
    over = f"      over: {{kind: capacity-block, reservation_id: {EXPIRED}}}\n"
    capacity.write(("      block:\n", f"{over}      block:\n"))
    assert capacity.buy(capacity.offering()).exit_code == 0
    assert over in capacity.file.read_text()
    assert "further_blocks" not in capacity.file.read_text()
    for further in (("--entry", "over"), ()):
        result = capacity.buy(capacity.offering(), *further)
        assert result.exit_code == 0, result.output
    pool = find_stack_file(STACK, path=capacity.file).cluster["architecture"]["node_groups"]["p5"]
    entries = find_stack_file(STACK, path=capacity.file).cluster["reservations"]
    used = [pool["purchase_option"], *pool["further_blocks"]]
    assert [entries[name]["reservation_id"] for name in used] == capacity.bought()


@pytest.mark.usefixtures("unchecked")
def test_the_first_block_of_nodes_is_no_further_one(capacity: Commands) -> None:
    other = "        g5: {instance_type: g5.12xlarge, desired: 0}\n"
    capacity.write(("        p5:\n", f"{other}        p5:\n"))
    assert capacity.buy(capacity.offering()).exit_code == 0
    assert capacity.bought()[0] in capacity.file.read_text()
    assert "further_blocks" not in capacity.file.read_text()


IN_OHIO = (("aws:region: us-west-2", "aws:region: us-east-2"),)


def ultraservers(capacity: Commands, number: int) -> dict[str, Any]:
    capacity.write(*IN_OHIO, ("instance_type: p5.48xlarge", "instance_type: trn2u.48xlarge"))
    search = ("search", "--type", "u-trn2x64", "--nodes", str(number), "--days", "7")
    found = json.loads(capacity(*search, "--stack", STACK, "--json").stdout)
    return found["offerings"][-1]


@pytest.mark.usefixtures("unchecked")
def test_an_ultraserver_is_a_block_of_four_nodes(capacity: Commands) -> None:
    offering = ultraservers(capacity, 1)
    # 143.04 USD an hour for 4 nodes and 64 accelerators
    assert (offering["node_hour"], offering["accelerator_hour"]) == (35.76, 2.235)
    result = capacity.buy(offering)
    assert result.exit_code == 0, result.output
    stack = find_stack_file(STACK, path=capacity.file).cluster
    (entry,) = stack["reservations"].values()
    ec2 = capacity.account.client("ec2", "us-east-2")
    ids = [entry["reservation_id"]]
    answer = ec2.describe_capacity_reservations(CapacityReservationIds=ids)
    (found,) = answer["CapacityReservations"]
    assert (found["InstanceType"], instance_count(found)) == ("trn2u.48xlarge", 4)
    assert entry["instance_count"] == 4


@pytest.mark.usefixtures("unchecked")
def test_several_ultraservers_are_bought_one_by_one(capacity: Commands) -> None:
    result = capacity.buy(ultraservers(capacity, 2))
    assert result.exit_code == 2
    assert "each is a Capacity Block of its own" in result.stderr
    assert "--type u-trn2x64 --nodes 1 --days" in result.stderr


@pytest.mark.parametrize(
    ("zone", "nodes", "changes", "said"),
    [
        ("us-west-2d", 2, (), "must launch in us-west-2d, the zone of cb-"),
        ("us-west-2b", 1, (), "p5.desired` to `1`"),
        (
            "us-west-2b",
            2,
            (("instance_type: p5.48xlarge", "instance_type: p4d.24xlarge"),),
            "cb-",
        ),
        (
            "us-west-2b",
            2,
            (
                ("subnet-0b000000000000002]", "subnet-0b000000000000282]"),
                ("desired: 2", "desired: 2"),
            ),
            "addresses",
        ),
    ],
)
def test_a_block_that_the_stack_cannot_use_is_not_bought(
    capacity: Commands, zone: str, nodes: int, changes: tuple[tuple[str, str], ...], said: str
) -> None:
    capacity.write(*changes)
    before = capacity.file.read_text()
    result = capacity.buy(capacity.offering(zone, nodes))
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert "cr-00000000000000000" not in result.stderr
    assert capacity.bought() == []
    assert capacity.file.read_text() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--price", "1"), "--price is 1, but the price is 10,571.90 USD"),
        ((), "--price 10571.90"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_without_the_price_nothing_is_bought(
    capacity: Commands, counted: CountedCalls, arguments: tuple[str, ...], said: str
) -> None:
    offering = capacity.offering()
    result = capacity("buy", offering["offering_id"], "--for", STACK, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert counted.done[BUY] == 0
    assert capacity.records() == []
