"""The layout of network interfaces, as in ParallelCluster's own launch templates."""

from __future__ import annotations

from trainyard.sandbox.parallelcluster.provider.reading import (
    Card,
    compute_interfaces,
    head_interfaces,
)

P4DE = [Card(index, 15) for index in range(4)]
P5 = [Card(0, 2), *(Card(index, 1) for index in range(1, 32))]


def kinds(interfaces: tuple[dict, ...]) -> list[tuple[int, int, str]]:
    return [
        (each["NetworkCardIndex"], each["DeviceIndex"], each.get("InterfaceType", "interface"))
        for each in interfaces
    ]


def test_efa_has_interfaces_of_its_own_beside_the_one_with_the_address() -> None:
    made = compute_interfaces(P4DE, efa_enabled=True, efa_on_first_card=True, assign_public_ip=None)
    assert kinds(made) == [
        (0, 0, "interface"),
        (0, 1, "efa-only"),
        (1, 1, "efa-only"),
        (2, 1, "efa-only"),
        (3, 1, "efa-only"),
    ]
    assert "AssociatePublicIpAddress" not in made[0]


def test_a_p5_has_33_interfaces() -> None:
    made = compute_interfaces(P5, efa_enabled=True, efa_on_first_card=True, assign_public_ip=False)
    assert len(made) == 33
    assert kinds(made)[2] == (1, 0, "efa-only")
    assert made[0]["AssociatePublicIpAddress"] is False


def test_a_first_card_with_one_place_has_both_on_one_interface() -> None:
    one = [Card(0, 1), Card(1, 1)]
    made = compute_interfaces(one, efa_enabled=True, efa_on_first_card=True, assign_public_ip=None)
    assert kinds(made) == [(0, 0, "efa"), (1, 0, "efa-only")]


def test_a_first_card_without_efa_has_none() -> None:
    made = compute_interfaces(P5, efa_enabled=True, efa_on_first_card=False, assign_public_ip=None)
    assert kinds(made)[:2] == [(0, 0, "interface"), (1, 0, "efa-only")]


def test_the_old_layout_can_be_asked_for() -> None:
    made = compute_interfaces(
        P4DE, efa_enabled=True, efa_on_first_card=True, assign_public_ip=None, combined=True
    )
    assert kinds(made) == [(0, 0, "efa"), (1, 1, "efa"), (2, 1, "efa"), (3, 1, "efa")]


def test_without_efa_every_card_has_a_plain_interface() -> None:
    made = compute_interfaces(
        P4DE, efa_enabled=False, efa_on_first_card=True, assign_public_ip=None
    )
    assert {kind for _, _, kind in kinds(made)} == {"interface"}
    assert kinds(head_interfaces(P4DE)) == kinds(made)
