"""Access to the head node."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.parallelcluster import raw_g4dn
from tests.support.stack_files import notes, refusals

RSA = (
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQCd2jddDyCrk2DXgASI115RElkN2SMBO6Y3E7VYiRW/FQTB8"
    "/tRY9mA+LlEiiYKPH8DcFTrhOwE5iAt8d2qvqbSg0/BgJ9oQIl5Ouzr1EO4HeMAe4sGZM8X01s2YQe6s8q+cm"
    "j43NqhoRPH+mZDnWD+/hYYXUYrweiayak/t29Xcw== me"
)
ED25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFxtkBQK8pio3VACjCmOl68BcFHYzZ6Xk60QDD9HYPvn me"
KEY = "architecture.head_node.ssh.public_key"


def ssh(system: str = "alinux2023", network: str = "public", **settings: Any) -> dict[str, Any]:
    return raw_g4dn(
        architecture__operating_system=system,
        architecture__head_node__network=network,
        architecture__head_node__ssh=settings,
    )


@pytest.mark.parametrize(
    ("raw", "refused"),
    [
        (ssh(public_key=ED25519), False),
        (ssh(public_key=RSA), False),
        (ssh(public_key=ED25519, key_name="sandbox"), True),
        (ssh("ubuntu2204", public_key=ED25519), False),
        (ssh("ubuntu2204", public_key=RSA), True),
        (ssh("ubuntu2404", public_key=RSA), True),
    ],
)
def test_a_head_node_takes_one_key_of_a_type_that_it_knows(raw: dict[str, Any], *, refused: bool):
    """PC-05; KeyPairValidator."""
    assert list(refusals(raw)) == [KEY] * refused


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (ssh(key_name="sandbox", allowed_cidr="0.0.0.0/0"), "SSH is open to the internet"),
        (ssh(key_name="sandbox"), "no network can open SSH connections"),
        (ssh(key_name="sandbox", allowed_cidr="10.0.0.0/8"), ""),
        (
            ssh(network="private", key_name="sandbox", allowed_cidr="10.0.0.0/8"),
            "only from inside the VPC",
        ),
        (ssh(), ""),
    ],
)
def test_who_gets_in_is_noted(raw: dict[str, Any], says: str):
    found = notes(raw)
    assert says in found if says else "head node" not in found


@pytest.mark.parametrize("settings", [{}, {"key_name": "sandbox"}])
def test_a_head_node_that_nobody_reaches_is_noted(settings: dict[str, str]):
    raw = ssh(**settings)
    raw["architecture"]["head_node"]["iam_policies"] = []
    assert "no user can log in" in notes(raw)
