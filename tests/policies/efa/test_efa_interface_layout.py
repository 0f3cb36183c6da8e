"""Interfaces at positions that the type supports (A10 to A15)."""

from __future__ import annotations

import pytest

from tests.support.instance_types import EFA_TYPES
from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import EFA_NETWORK, interface, p5_interfaces, template
from trainyard.components.compute.interface_plan import plan_interfaces
from trainyard.policies.rules.efa.efa_interface_layout import POLICY

VIOLATING = ((template(networkInterfaces=[interface(0, 0), interface(1, 0)]), *EFA_NETWORK),)
CLEAN = ((template(), *EFA_NETWORK),)

PRIMARY = interface(0, 0, "interface")


def of_p5(*interfaces, instance_type="p5.48xlarge"):
    return check(
        POLICY, template(instanceType=instance_type, networkInterfaces=[*interfaces])
    ).messages


@pytest.mark.parametrize(
    ("interfaces", "fault"),
    [
        pytest.param([interface(0, 0)], "is the primary and is efa-only", id="efa-only-primary"),
        pytest.param([interface(1, 0)], "no network interface at card 0 device 0", id="no-primary"),
        pytest.param(
            [PRIMARY, interface(1, 0), interface(1, 0, "interface")],
            "2 network interfaces are at card 1 device 0",
            id="same-place",
        ),
        pytest.param(
            [PRIMARY, interface(1, 0), interface(1, 1)],
            "network card 1 has 2 EFA interfaces and takes one",
            id="two-on-a-card",
        ),
        pytest.param(
            [PRIMARY, interface(32, 0)],
            "p5.48xlarge has 32 network cards; set network_card_index to 0 … 31",
            id="no-such-card",
        ),
        pytest.param(
            [PRIMARY, interface(1, 2)],
            "(card 1, device 2): its card of p5.48xlarge has room for 2 interfaces",
            id="no-such-device",
        ),
        pytest.param(
            [PRIMARY, interface(1, 0, privateIpAddress="10.0.0.1")],
            "asks for privateIpAddress",
            id="efa-only-with-address",
        ),
        pytest.param([PRIMARY, interface(1, 0, ipv4PrefixCount=1)], "ipv4PrefixCount", id="prefix"),
        pytest.param(
            [interface(0, 0, "efa", associatePublicIpAddress="true"), interface(1, 0)],
            "asks for a public address",
            id="public-address-of-several",
        ),
    ],
)
def test_fails(interfaces, fault):
    (message,) = of_p5(*interfaces)
    assert fault in message


def test_card_zero_of_p6_b300_carries_no_efa():
    """A13."""
    (message,) = of_p5(interface(0, 0, "efa"), instance_type="p6-b300.48xlarge")
    assert "its card of p6-b300.48xlarge takes no efa interface; use interface there" in message


@pytest.mark.parametrize("layout", ["efa-only", "efa"])
@pytest.mark.parametrize("instance_type", EFA_TYPES, ids=lambda t: t.name)
def test_what_we_plan_ourselves_passes(instance_type, layout):
    planned = plan_interfaces(instance_type, layout).interfaces
    assert not of_p5(
        *(interface(i.network_card_index, i.device_index, i.interface_type) for i in planned),
        instance_type=instance_type.name,
    )


def cards(count, device):
    return [interface(card, device(card), "efa") for card in range(count)]


@pytest.mark.parametrize(
    ("instance_type", "interfaces"),
    [
        pytest.param(
            "p5.48xlarge",
            [PRIMARY, interface(0, 1), *(interface(card, 1) for card in range(1, 32))],
            id="efa-only-at-device-1",
        ),
        pytest.param(
            "p5.48xlarge", cards(32, lambda card: min(card, 1)), id="EKN-09-as-in-the-old-template"
        ),
        pytest.param(
            "p4d.24xlarge", cards(4, lambda card: card), id="EKN-10-as-in-the-old-template"
        ),
        pytest.param(
            "trn1n.32xlarge", cards(16, lambda card: card if card < 4 else 1), id="trn1n-quirk"
        ),
        pytest.param("p99.48xlarge", cards(40, lambda _card: 0), id="type-of-the-future"),
        pytest.param("c5.2xlarge", [{"deviceIndex": 9}], id="no-efa-no-opinion"),
        pytest.param("p5.48xlarge", [{"interfaceType": "efa"}], id="places-left-to-ec2"),
        pytest.param(
            "p5.48xlarge",
            [interface(0, 0, "efa", associatePublicIpAddress="true")],
            id="public-address-of-the-only-one",
        ),
    ],
)
def test_passes(instance_type, interfaces):
    assert of_p5(*interfaces, instance_type=instance_type) == []


def test_an_unknown_place_does_not_hide_the_faults_of_others():
    interfaces = [PRIMARY, interface(UNKNOWN, 0), interface(1, UNKNOWN), interface(40, 0)]
    found = check(POLICY, template(networkInterfaces=interfaces))
    assert len(found.messages) == 1
    assert len(found.undecided) == 1


def test_an_unknown_instance_type_leaves_what_needs_no_catalog():
    found = check(POLICY, template(instanceType=UNKNOWN, networkInterfaces=[interface(0, 0)]))
    assert len(found.messages) == 1
    assert len(found.undecided) == 1
    assert check(POLICY, template(networkInterfaces=p5_interfaces())).undecided == []
