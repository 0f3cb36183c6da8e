"""`cost` lists every charge, and says what is not known."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from typer.testing import Result

from tests.support.batch import RAW
from tests.support.eks import block, p5
from tests.support.stack_files import raw_config
from trainyard.commands.deployment.status import _costs
from trainyard.commands.stack_file.plan import show_plan
from trainyard.components.catalog.prices import Price
from trainyard.cost.price_list import current_cost
from trainyard.cost.stack_cost import cost_line
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of

Run = Callable[..., Result]
Write = Callable[..., Path]
ON_DEMAND = p5(purchase_option="on-demand", availability_zone="us-west-2b")


@pytest.fixture
def document(trainyard: Run, stack_file: Write) -> Callable[[object], dict[str, Any]]:
    def read(cluster: object) -> dict[str, Any]:
        result = trainyard("cost", "p5-cb", "--stack-file", stack_file(cluster), "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return read


def test_every_charge_has_its_price_and_the_sums_are_those_of_the_charges(document) -> None:
    found = document(ON_DEMAND)
    assert found["complete"]
    nodes = next(e for e in found["items"] if e["resource"] == "architecture.node_groups.p5")
    assert (nodes["quantity"], nodes["price_usd"], nodes["hourly_usd"]) == (2, 55.04, 110.08)
    assert nodes["source_url"].startswith("https://")
    hourly = sum(each["hourly_usd"] or 0 for each in found["items"])
    assert found["hourly_usd"] == pytest.approx(hourly, abs=1e-3)
    assert found["monthly_usd"] == pytest.approx(730 * hourly, abs=0.01)
    assert "the account was not read" in found["notes"][0]


def test_the_table_names_the_charges_their_sources_and_their_age(
    trainyard: Run, stack_file: Write
) -> None:
    raw = {**ON_DEMAND, "budget": {"monthly_usd": 100}}
    result = trainyard("cost", "p5-cb", "--stack-file", stack_file(raw))
    # `cost` shows a plan that its budget refuses.
    assert result.exit_code == 0, result.output
    for text in (
        "p5.48xlarge, on demand",
        "architecture.node_groups.p5",
        "total: 110.6",
        "above the budget of 100.00 USD a month",
        "prices of 2026-",
    ):
        assert text in result.stdout


def test_a_block_has_its_fee_and_what_runs_afterwards(trainyard: Run, stack_file: Write) -> None:
    path = stack_file(block(upfront_fee_usd=7000))
    result = trainyard("cost", "p5-cb", "--stack-file", path)
    assert "is paid in advance: 7,000.00 USD; its times are not known" in result.stdout
    assert "when the block is over: " in result.stdout
    path = stack_file(block())
    assert "its fee is not known; set reservations.block.upfront_fee_usd" in (
        trainyard("cost", "p5-cb", "--stack-file", path).stdout
    )


def test_jobs_add_nodes(trainyard: Run, stack_file: Write) -> None:
    result = trainyard("cost", "p5-cb", "--stack-file", stack_file(raw_config(RAW)))
    assert "jobs can add 4 nodes" in result.stdout
    assert "with all nodes that jobs can launch: " in result.stdout


def test_a_price_that_is_not_known_is_in_no_sum(
    document, trainyard: Run, stack_file: Write
) -> None:
    spot = p5(purchase_option="spot", efa_enabled=False)
    found = document(spot)
    assert not found["complete"]
    nodes = next(e for e in found["items"] if e["resource"] == "architecture.node_groups.p5")
    assert nodes["price_usd"] is nodes["hourly_usd"] is None
    result = trainyard("cost", "p5-cb", "--stack-file", stack_file(spot))
    assert "price not known, in no sum: p5.48xlarge, Spot" in result.stdout


@pytest.mark.usefixtures("credentials")
def test_with_credentials_the_prices_are_those_of_the_price_list(stack_file: Write) -> None:
    price = Price(usd=1, source="AWS Price List", url="https://a", day=date(2026, 11, 25))
    file = find_stack_file("p5-cb", path=stack_file(ON_DEMAND))
    found = current_cost(
        target_of(file, sandbox=False), listed=lambda *_: {"ec2:p5.48xlarge": price}
    )
    prices = {each.resource: each.price for each in found.estimate.items}
    assert prices["architecture.node_groups.p5"] == price
    # What the Price List lacks keeps the price of the snapshot.
    snapshot = prices["architecture"]
    assert snapshot is not None
    assert snapshot.usd == 0.1
    assert not found.notes


@pytest.mark.usefixtures("credentials")
def test_a_denied_price_list_is_named_and_the_snapshot_is_used(stack_file: Write) -> None:
    def denied(*_: object) -> Any:
        answer: Any = {"Error": {"Code": "AccessDeniedException", "Message": "no"}}
        raise ClientError(answer, "GetProducts")

    file = find_stack_file("p5-cb", path=stack_file(ON_DEMAND))
    found = current_cost(target_of(file, sandbox=False), listed=denied)
    assert not found.estimate.unknown
    (note,) = found.notes
    assert note.startswith("not read: pricing:GetProducts: ")
    assert note.endswith("the prices are those of the snapshot")


def test_an_invalid_stack_file_is_refused(trainyard: Run, stack_file: Write) -> None:
    path = stack_file(p5(desired="many"))
    assert trainyard("cost", "p5-cb", "--stack-file", path).exit_code == 2


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (ON_DEMAND, ("110.64 USD an hour, 80,766.00 a month; list prices since 2026-",)),
        (block(), ("without the fee of the Capacity Block",)),
        (raw_config(RAW), ("an hour with all nodes of jobs",)),
        (p5(purchase_option="spot", efa_enabled=False), ("; 1 price unknown",)),
        ({**ON_DEMAND, "budget": {"monthly_usd": 1}}, ("110.6",)),
    ],
)
def test_the_line_of_other_commands_has_the_sums_and_what_they_lack(
    stack_file: Write, raw: object, said: tuple[str, ...]
) -> None:
    found = find_stack_file("p5-cb", path=stack_file(raw))
    line = cost_line(target_of(found, sandbox=True))
    assert all(each in line for each in said), line
    assert line.endswith(target_of(found, sandbox=True).command("cost"))


def test_the_plan_of_a_stack_shows_the_line(capsys) -> None:
    show_plan(target_of(find_stack_file("dev"), sandbox=False), {"resources": [], "outputs": {}})
    assert "cost: 4.61 USD an hour, 3,365.60 a month; " in capsys.readouterr().out


def test_status_shows_the_line_if_the_stack_file_is_valid(stack_file: Write) -> None:
    found = find_stack_file("p5-cb", path=stack_file(ON_DEMAND))
    ((name, line),) = _costs(target_of(found, sandbox=False))
    assert (name, line) == ("cost", cost_line(target_of(found, sandbox=False)))
    assert not [*_costs(target_of(find_stack_file("p5-cb", path=stack_file({})), sandbox=False))]
