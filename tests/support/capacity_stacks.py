"""A stack file of the user in a stacks directory, for the commands of `capacity`."""

from __future__ import annotations

from pathlib import Path

from tests.support.sandbox_aws import PRIVATE_A, PRIVATE_B, VPC
from tools.workspace.checkout import ROOT
from tools.workspace.stacks_directory import create

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
