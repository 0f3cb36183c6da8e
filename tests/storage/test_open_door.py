"""Rules of security groups that let nodes reach all ports of a file system.

The ports are those of Lustre:
https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
"""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any

import pytest

from trainyard.components.network.facts import IngressFacts
from trainyard.components.storage.checks import is_open

NODES = IPv4Network("10.0.0.0/16")
PORTS = (1018, 1023)


def rule(**changes: Any) -> IngressFacts:
    fields = {"protocol": "tcp", "first_port": 1018, "last_port": 1023, "cidr": "10.0.0.0/16"}
    return IngressFacts(**(fields | changes))


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="exactly"),
        pytest.param({"first_port": 0, "last_port": 65535, "cidr": "0.0.0.0/0"}, id="more"),
        pytest.param({"protocol": "-1", "first_port": -1, "last_port": -1}, id="all-traffic"),
        pytest.param({"cidr": None}, id="a-group"),
    ],
)
def test_a_rule_for_every_port_and_node_opens_the_door(changes: dict[str, Any]) -> None:
    assert is_open([rule(**changes)], PORTS, NODES)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"protocol": "udp"}, id="udp"),
        pytest.param({"last_port": 1020}, id="the-last-ports-are-missing"),
        pytest.param({"first_port": 1020}, id="the-first-ports-are-missing"),
        pytest.param({"cidr": "10.0.0.0/17"}, id="a-half-of-the-nodes"),
        pytest.param({"cidr": "10.1.0.0/16"}, id="other-nodes"),
        pytest.param({"protocol": "-1", "cidr": "10.1.0.0/16"}, id="all-traffic-of-others"),
    ],
)
def test_a_rule_for_a_part_leaves_it_closed(changes: dict[str, Any]) -> None:
    assert not is_open([rule(**changes)], PORTS, NODES)
