"""Comments of the examples are kept where they still apply."""

from __future__ import annotations

import yaml

from tests.support.account import (
    BLOCK,
    BLOCK_IN_D,
    ODCR_P4D,
    listing,
)
from tests.support.tracked import ROOT
from tests.trainyard.init.support.new_stacks import design, text
from trainyard.init.document import stack_file_text

COMMAND = "./trainyard init prod-a"


def comments_of(text: str) -> list[str]:
    _, _, body = text.partition("\nconfig:\n")
    return [line.strip() for line in body.splitlines() if line.strip().startswith("#")]


def comments_above(key: str, text: str) -> list[str]:
    """Return the lines of the comment directly above a key."""
    above = text.splitlines()[: [line.strip() for line in text.splitlines()].index(f"{key}:")]
    lines = [line.strip() for line in above]
    return lines[1 + max(at for at, line in enumerate(lines) if not line.startswith("#")) :]


def example_text(stack: str) -> str:
    return (ROOT / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8")


def test_the_capacity_block_of_the_example_keeps_all_comments_but_one() -> None:
    written_text = text(example="p5-cb", reservations=(BLOCK,))
    written = comments_of(written_text)
    # The cluster satisfies the rules that the example breaks.
    example, _, _ = example_text("p5-cb").partition("\n    # Rules of the policy pack")
    kept = set(comments_of(example))
    # Zone, start and end: the zone is in the file.
    assert {line for line in kept if line not in written} == {
        "# Zone, start and end are read from the account. Written here (availability_zone,",
        "# starts_at, ends_at) they are known without one too.",
    }
    assert set(written) - kept == {
        "# Each node has 8 H100 GPUs and 32 EFA interfaces.",
        *comments_above("endpoint", written_text),
        *comments_above("log_types", written_text),
    }


def test_comments_about_the_devices_of_another_type_are_not_kept() -> None:
    written = text(example="p5-cb", reservations=("cr-0cb00000000000006",))
    assert "p4d.24xlarge" in written
    assert "All 32 EFA interfaces" not in written
    assert "# Each node has 8 A100 GPUs and 4 EFA interfaces.\n" in written


def test_commands_in_comments_name_the_new_stack() -> None:
    written = text(kind="batch", reservations=(BLOCK,))
    assert "./trainyard job prod-a nccl-tests --submit" in written
    assert "batch-p5" not in written.partition("\nconfig:\n")[2]


def test_a_comment_about_the_size_of_a_file_system_goes_with_the_size() -> None:
    given = {"kind": "slurm", "reservations": ("cr-00d00000000000004",)}
    assert "4.8 TB" in text(**given)
    assert "4.8 TB" not in text(**given, lustre_gib=2400)


def test_a_comment_about_the_zone_of_the_nodes_goes_with_the_zone() -> None:
    given = {"example": "dev", "vpc": "new"}
    assert "the nodes live in the second" in text(**given)
    only_a = {"g4dn.8xlarge": frozenset({"usw2-az2"})}
    moved = design(listing(offered_zone_ids=only_a), **given)
    written = stack_file_text(moved, command=COMMAND)
    assert "availability_zone: us-west-2a" in written
    assert "the nodes live in the second" not in written


def test_nothing_about_neuron_is_written_for_gpus() -> None:
    assert "Neuron" not in text(kind="slurm", instance_types=("p4d.24xlarge",), vpc="new")


def test_the_header_says_what_the_stack_is_and_how_it_was_made() -> None:
    head, _, _ = text(kind="eks", reservations=(BLOCK, ODCR_P4D)).partition("\nconfig:\n")
    assert f"2 p5.48xlarge of the Capacity Block\n# {BLOCK}" in head
    assert f"2 p4d.24xlarge of the On-Demand Capacity Reservation {ODCR_P4D}" in head
    assert f"#   {COMMAND}\n" in head
    assert all(line.startswith("#") for line in head.splitlines())


def test_lines_are_as_long_as_those_of_the_examples() -> None:
    written = text(kind="eks", reservations=(BLOCK, BLOCK_IN_D), lustre_gib=2400)
    long = [line for line in written.splitlines() if len(line) > 100]
    assert [line for line in long if "$schema=" not in line and COMMAND not in line] == []


def test_the_text_is_yaml_with_the_region_and_the_profile() -> None:
    config = yaml.safe_load(text(kind="network", region="us-west-2", profile="team"))["config"]
    assert (config["aws:region"], config["aws:profile"]) == ("us-west-2", "team")
