"""Checks of the key pair with which people log in to a head node."""

from __future__ import annotations

from collections.abc import Iterator

from components.account.facts import AccountFacts
from components.account.key_pair_check import missing_key_problems
from components.config.parallelcluster import ParallelClusterArchitecture
from components.config.problems import ROOT, Problem

KEY = f"{ROOT}.architecture.head_node.ssh.key_name"
SYSTEMS_WITHOUT_RSA = frozenset({"ubuntu2204", "ubuntu2404"})
"""Operating systems whose OpenSSH takes no RSA keys of EC2's kind.

`KeyPairValidator` of aws-parallelcluster 3.16.1, and
https://docs.aws.amazon.com/parallelcluster/latest/ug/HeadNode-v3.html, `Ssh/KeyName`
"""


def key_problems(
    architecture: ParallelClusterArchitecture, facts: AccountFacts
) -> Iterator[Problem]:
    """Yield why nobody could log in to the head node with the key pair of the stack file."""
    key_name = architecture.head_node.ssh.key_name
    yield from missing_key_problems(
        KEY,
        key_name,
        facts,
        loss="the head node would not launch",
        remedy="give `public_key` in place of `key_name`, and the stack imports it",
    )
    system = architecture.operating_system
    if system in SYSTEMS_WITHOUT_RSA and facts.key_pairs.get(key_name or "") == "rsa":
        yield Problem(
            path=KEY,
            found=f"{key_name}, of type rsa",
            problem=f"{system} takes no RSA keys; nobody could log in",
            allowed="a key pair of type ed25519",
            remedy=(
                "make one (`aws ec2 create-key-pair --key-type ed25519 --key-name NAME`), and give "
                "its name"
            ),
        )
