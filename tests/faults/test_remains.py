"""The criteria for kills and faults of whole stacks: leftovers, and whether they were reported."""

from __future__ import annotations

from tests.support.remains import remains, untold

SUBNET = "ec2:subnet subnet-0b000000000000002 free={}"
BEFORE = [SUBNET.format(9)]
GROUP = "ec2:security-group sg-5395d087be15f0fa5 name=a"
INTERFACE = "ec2:network-interface eni-44b842b17e734ddc7 groups=sg-5395d087be15f0fa5"
SYSTEM = "fsx:file-system fs-6b694d066b3556906 type=LUSTRE"
LISTED = "p5-cb was destroyed, except for protected resources:\n  fs-6b694d066b3556906\n"


def test_what_is_left_is_compared_without_the_ids_that_aws_made_up() -> None:
    other = GROUP.replace("5395d087be15f0fa5", "0123456789abcdef0")
    assert remains(BEFORE, [*BEFORE, GROUP]) == remains(BEFORE, [*BEFORE, other])
    assert remains(BEFORE, [*BEFORE, GROUP]) != remains(BEFORE, [*BEFORE, GROUP, other])


def test_an_object_that_is_not_in_the_list_is_untold() -> None:
    assert untold(BEFORE, [*BEFORE, SYSTEM, GROUP], LISTED) == [GROUP]


def test_an_id_that_stands_before_the_list_is_not_in_it() -> None:
    """The engine names everything that it deletes."""
    said = f"deleted {GROUP}\n{LISTED}"
    assert untold(BEFORE, [*BEFORE, GROUP], said) == [GROUP]
    assert untold(BEFORE, [*BEFORE, GROUP], f"deleted {GROUP}") == [GROUP]


def test_a_part_of_what_is_listed_is_told_with_it() -> None:
    said = f"{LISTED}  sg-5395d087be15f0fa5\n"
    assert untold(BEFORE, [*BEFORE, SYSTEM, GROUP, INTERFACE], said) == []


def test_a_change_of_what_was_there_is_no_new_object() -> None:
    assert untold(BEFORE, [SUBNET.format(6)], "") == []
