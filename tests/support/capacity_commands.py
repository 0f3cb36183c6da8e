"""The commands of `capacity` in an emulated account, with a stack file of the user."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from typer.testing import Result

from tests.support.sandbox_aws import PRIVATE_A, PRIVATE_B, VPC, Account
from tests.support.tracked import ROOT
from trainyard.sandbox.aws.server import AwsServer
from trainyard.stack_files.stacks_directory import create

STACK = "prod-a"
_NETWORK = f"""kind: existing-vpc
      vpc_id: {VPC}
      public_subnet_ids: [subnet-0a000000000000001, subnet-0b000000000000001]
      private_subnet_ids: [{PRIVATE_A}, {PRIVATE_B}]
"""


def written_stack(directory: Path, *changes: tuple[str, str]) -> Path:
    """Write the stack p5-cb under another name, with the network of the account.

    Args:
        directory: Becomes a stacks directory.
        changes: Old and new texts in the file.
    """
    create(directory)
    text = (ROOT / "Pulumi.p5-cb.yaml").read_text(encoding="utf-8")
    named = ("name: p5-cb\n", f"name: {STACK}\n")
    for old, new in (named, ("kind: existing-vpc\n", _NETWORK), *changes):
        assert old in text, old
        text = text.replace(old, new)
    path = directory / f"Pulumi.{STACK}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


BUY, EXTEND = "ec2:PurchaseCapacityBlock", "ec2:PurchaseCapacityBlockExtension"


class Commands:
    """The commands, in a stacks directory whose stack is `prod-a`."""

    def __init__(self, run: Callable[..., Result], server: AwsServer, directory: Path) -> None:
        self._run, self._server, self._directory = run, server, directory
        self.account = Account(server)
        self.file = written_stack(directory)
        self.check: Callable[..., Sequence[str]] | None = None
        """Stands for the check of the stack before a purchase."""

    def __call__(self, *arguments: str) -> Result:
        result = self._run("capacity", *arguments, deployed=self.check)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def write(self, *changes: tuple[str, str]) -> None:
        written_stack(self._directory, *changes)

    def use(self, *faults: str) -> None:
        self._server.use_faults("\n".join(f"- {{{each}}}" for each in faults))

    def offering(self, zone: str = "us-west-2b", nodes: int = 2, **more: str) -> dict[str, Any]:
        options = [word for name, value in more.items() for word in (f"--{name}", value)]
        search = ("search", "--type", "p5.48xlarge", "--nodes", str(nodes), "--days", "7")
        found = json.loads(self(*search, *options, "--json").stdout)["offerings"]
        return next(each for each in found if each["zone"] == zone and each["hours"] == 168)

    def buy(self, offering: dict[str, Any], *more: str) -> Result:
        price = ("--price", offering["fee"])
        return self("buy", offering["offering_id"], "--for", STACK, *price, *more)

    def bought(self) -> list[str]:
        """The blocks that carry the tag of a purchase."""
        filters = [{"Name": "tag-key", "Values": ["trainyard:purchase"]}]
        found = self.account.ec2.describe_capacity_reservations(Filters=filters)
        return [each["CapacityReservationId"] for each in found["CapacityReservations"]]

    def records(self) -> list[str]:
        return [path.name for path in self._directory.glob(".trainyard/capacity/*.purchase.json")]
