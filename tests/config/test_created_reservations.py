"""What a reservation that the stack creates needs, and what contradicts it."""

import pytest

from tests.support.eks import (
    config,
    schema_problems,
    with_created_odcr,
    with_odcr,
)


def test_a_created_reservation_is_protected_and_has_no_end():
    made = config(with_created_odcr()).reservations["block"]
    assert (made.is_created, made.deletion_protection, made.ends_at) == (True, True, None)


def test_an_existing_reservation_is_not_created():
    assert not config(with_odcr()).reservations["block"].is_created


@pytest.mark.parametrize(
    ("changes", "key", "said"),
    [
        ({"reservation_id": "cr-0123456789abcdef0"}, "reservation_id", "together with `create`"),
        ({"create": False}, "reservation_id", "is missing"),
        ({"instance_count": None}, "instance_count", "is missing"),
        ({"availability_zone": None}, "availability_zone", "is missing"),
        ({"availability_zone": "usw2-az2"}, "availability_zone", "is a zone id"),
        ({"provenance": "auto"}, "provenance", "is `auto`"),
        (
            {
                "resource_share_arn": "arn:aws:ram:us-west-2:123456789012:resource-share/"
                "01234567-89ab-cdef-0123-456789abcdef"
            },
            "resource_share_arn",
            "names a resource share",
        ),
    ],
)
def test_a_contradiction_names_its_key(changes, key, said):
    (found,) = schema_problems(with_created_odcr(**changes)).items()
    assert found[0] == f"reservations.block.{key}"
    assert said in found[1].problem
